import { progress } from './progress.ts';
import { attempt } from './run.ts';
import { KUBERNETES } from './versions.ts';

/**
 * Where Kubernetes' programs are published: `KBUILD_LAB_DOWNLOAD_BASE`, a site laid out as https://dl.k8s.io, the default.
 * Empty: build everything. `KBUILD_LAB_CHECKSUMS`: a file of checksums to believe instead of the site's own.
 */
export function downloadSite(): { readonly base: string; readonly checksums: string } {
  return {
    base: (process.env['KBUILD_LAB_DOWNLOAD_BASE'] ?? 'https://dl.k8s.io').replace(/\/+$/, ''),
    checksums: process.env['KBUILD_LAB_CHECKSUMS'] ?? '',
  };
}

/** Whether the site has the lab's versions. Within 10 s; never throws. */
export async function siteAnswers(): Promise<boolean> {
  const { base } = downloadSite();
  if (base === '') return false;
  const urls = KUBERNETES.map(({ version }) => `${base}/release/v${version}/bin/linux/amd64/kubelet.sha256`);
  const results = await Promise.all(
    urls.map((url) => attempt('curl', ['-fsSL', '-o', '/dev/null', '--connect-timeout', '3', '-m', '10', url])),
  );
  const answers = results.every(({ code }) => code === 0);
  progress(`${base} ${answers ? 'has the programs: take them' : 'does not have the programs: build them'}`);
  return answers;
}

import { progress } from './progress.ts';
import { attempt } from './run.ts';
import { KUBERNETES, type KubernetesVersion } from './versions.ts';

/** What users of Kubernetes download, by what it is. */
export const SITES = ['programs', 'releases', 'images', 'packages'] as const;
export type Site = (typeof SITES)[number];

/** Where these are published. An empty one is not asked: what it has is built. */
export interface Sites {
  /** Programs of Kubernetes, laid out as https://dl.k8s.io. */
  readonly programs: string;
  /** Releases of other projects, laid out as https://github.com. */
  readonly releases: string;
  /** Registry of Kubernetes' images. */
  readonly images: string;
  /** Registry of flannel's images. */
  readonly flannelImages: string;
  /** Packages of Kubernetes, laid out as https://pkgs.k8s.io/core:/stable:. */
  readonly packages: string;
  /** Fingerprint of the key that signs those packages. */
  readonly packagesKey: string;
  /** File of `SHA256  NAME` lines to believe instead of the sites' own checksums, or nothing. */
  readonly checksums: string;
}

/** The sites that the environment names; the default is where users get these things. */
export function sites(env: NodeJS.ProcessEnv = process.env): Sites {
  const url = (variable: string, published: string): string =>
    (env[`KBUILD_LAB_${variable}`] ?? published).replace(/\/+$/, '');
  return {
    programs: url('DOWNLOAD_BASE', 'https://dl.k8s.io'),
    releases: url('RELEASES_BASE', 'https://github.com'),
    images: url('IMAGES_BASE', 'https://registry.k8s.io'),
    flannelImages: url('FLANNEL_IMAGES_BASE', 'https://ghcr.io'),
    packages: url('PACKAGES_BASE', 'https://pkgs.k8s.io/core:/stable:'),
    packagesKey: env['KBUILD_LAB_PACKAGES_FINGERPRINT'] ?? 'DE15B14486CD377B9E876E1A234654DA9A296436',
    checksums: env['KBUILD_LAB_CHECKSUMS'] ?? '',
  };
}

/** URLs of which all must answer, or nothing may be taken from the site. */
function probes(site: Site, from: Sites, versions: readonly KubernetesVersion[]): readonly string[] {
  const each = (url: (version: KubernetesVersion) => string): readonly string[] => versions.map(url);
  switch (site) {
    case 'programs':
      return each(({ version }) => `${from.programs}/release/v${version}/bin/linux/amd64/kubelet.sha256`);
    case 'releases':
      return each(({ etcd }) => `${from.releases}/etcd-io/etcd/releases/download/v${etcd}/SHA256SUMS`);
    case 'images':
      return [`${from.images}/v2/`, `${from.flannelImages}/v2/`];
    case 'packages':
      return each(({ minor }) => `${from.packages}/v${minor}/deb/InRelease`);
  }
}

/** A registry that wants a token answers, too. */
async function answers(url: string): Promise<boolean> {
  if (!url.startsWith('http')) return false;
  const format = ['-o', '/dev/null', '-w', '%{http_code}'];
  const { stdout } = await attempt('curl', ['-sSL', ...format, '--connect-timeout', '3', '-m', '10', url]);
  return stdout === '200' || (stdout === '401' && url.endsWith('/v2/'));
}

/** Those of the sites that have the lab's versions. Within 10 s; never throws. */
export async function sitesThatAnswer(
  some: readonly Site[],
  versions: readonly KubernetesVersion[] = KUBERNETES,
): Promise<ReadonlySet<Site>> {
  const from = sites();
  const found = await Promise.all(
    some.map(async (site) => {
      const asked = probes(site, from, versions);
      const all = (await Promise.all(asked.map(answers))).every(Boolean);
      const names = site === 'images' ? [from.images, from.flannelImages] : [from[site]];
      const urls = names.map((name) => name || '(empty)').join(', ');
      progress(`${site}: ${urls}: ${all ? 'answers, taken from there' : 'does not answer, built here'}`);
      return all ? [site] : [];
    }),
  );
  return new Set(found.flat());
}

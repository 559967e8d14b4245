import type { Check, Finding } from './check.ts';

/** What hosts will download is there, and they can reach it. */
export const downloads: Check = {
  name: 'downloads',
  title: 'repositories, signing keys, the version and every image can be had from each host',
  why: 'A survey: each host asks for the lists and keys of the package repositories and for the manifest of every image, through mirrors and proxy, with logins and authorities as the inventory has them. Of etcd and CoreDNS only the name is asked for: kubeadm knows their tags and is not installed yet, and some mirrors do not list tags, so that this is a warning. On hosts without curl a registry only has to answer, and one with a login or a private authority is not asked.',
  severities: ['error', 'warning', 'due'],
  test: ({ fleet: { surveys } }) =>
    (surveys?.downloads ?? []).flatMap((one): readonly Finding[] => {
      const host = one.host.name;
      if ('failed' in one)
        return [{ severity: 'unknown', host, message: `could not ask for downloads: ${one.failed}` }];
      if ('skipped' in one) return [{ severity: 'due', host, message: one.skipped }];
      return one.found.map(({ wanted: { what, kind }, why }) => ({
        severity: kind === 'tags' ? 'warning' : 'error',
        host,
        message: kind === 'tags' ? `found no tags of ${what}: ${why}` : `cannot get ${what}: ${why}`,
        remedy: 'check name resolution, routes, proxy and mirrors of the host',
      }));
    }),
};

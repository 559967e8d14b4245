import type { Check, Finding } from './check.ts';

/** What hosts will download is there, and they can reach it. */
export const downloads: Check = {
  name: 'downloads',
  title: 'repositories, signing keys, the version and every image can be had from each host',
  why: 'A survey: each host asks for the lists and keys of the package repositories and for the manifest of every image, through mirrors and proxy as the inventory has them. Images behind a login or a private authority are left out, and on hosts without curl a registry only has to answer.',
  severities: ['error', 'due'],
  test: ({ fleet: { surveys } }) =>
    (surveys?.downloads ?? []).flatMap((one): readonly Finding[] => {
      const host = one.host.name;
      if ('failed' in one)
        return [{ severity: 'unknown', host, message: `could not ask for downloads: ${one.failed}` }];
      if ('skipped' in one) return [{ severity: 'due', host, message: one.skipped }];
      return one.found.map(({ wanted: { what }, why }) => ({
        severity: 'error',
        host,
        message: `cannot get ${what}: ${why}`,
        remedy: 'check name resolution, routes, proxy and mirrors of the host',
      }));
    }),
};

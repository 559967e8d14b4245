import type { RuntimeDefaults } from './runtime.ts';

const place = {
  url: 'https://download.docker.com/linux/{distribution}',
  suite: '{codename}',
  component: 'stable',
  key: 'gpg',
} as const;

/** Docker's own repository, which has Docker Engine and containerd. Its two kinds of packages are signed with different keys (docs.docker.com/engine/install). */
export const dockerRepository: RuntimeDefaults['repository'] = {
  ...place,
  fingerprint: '9DC858229FC7DD38854AE2D88D81803C0EBFCD88',
  rpm: { ...place, fingerprint: '060A61C51B558A7F742B77AAC52FEB6B621E9F35' },
};

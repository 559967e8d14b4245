import { lines, probeInPlace } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import type { Distribution } from './distribution.value.ts';
import type { PackageState } from './package-manager.value.ts';

/**
 * The packages of the image that kbuild would install elsewhere: the runtime, in the version of the image,
 * and the CA certificates.
 */
const brought: NonNullable<Distribution['brought']> = (names) =>
  probeInPlace(
    sh`if [ -x /usr/bin/containerd ]; then /usr/bin/containerd --version | sed 's/.* v\\{0,1\\}\\([0-9][^ ]*\\).*/containerd \\1/'; fi
       if [ -e /etc/ssl/certs/ca-certificates.crt ]; then echo 'ca-certificates image'; fi`,
    (out): ReadonlyMap<string, PackageState> =>
      new Map(
        lines(out).flatMap((line) => {
          const [name, version] = line.split(' ');
          if (!names.includes(name!)) return [];
          return [[name!, { state: 'installed', version: version!, held: true }] as const];
        }),
      ),
  );

const IMAGE = 'a Flatcar release that has it';

/** Flatcar Container Linux: an image with containerd in it, a read-only /usr, and no packages. */
export const flatcar: Distribution = {
  family: 'flatcar',
  id: 'flatcar',
  name: 'Flatcar',
  versions: 'rolling',
  support: 'supported',
  packages: undefined,
  builtIn: ['containerd'],
  brought,
  programFolder: '/opt/bin',
  trustStore: { folder: '/etc/ssl/certs', extension: 'pem', update: 'update-ca-certificates' },
  chrony: undefined,
  downloader: 'host/packages/download-with-curl.sh',
  helpers: () => [],
  kubeletArguments: '/etc/default/kubelet',
  pendingReboot: probeInPlace(
    sh`status=$(update_engine_client -status 2>&1) || { echo "update_engine_client: $status" >&2; exit 1; }
       case $status in *UPDATE_STATUS_UPDATED_NEED_REBOOT*) echo pending ;; esac`,
    (out) => (out.startsWith('pending') ? ['an update of the image'] : 'none'),
  ),
  toolPackages: {
    ...{ mount: IMAGE, losetup: IMAGE, cp: IMAGE, ip: IMAGE, ss: IMAGE, modprobe: IMAGE },
    ...{ flock: IMAGE, 'systemd-run': IMAGE, bash: IMAGE, getent: IMAGE },
  },
  placeholders: ({ id, versionId }) => ({ distribution: id, codename: versionId }),
};

import { parse as parseToml } from 'smol-toml';
import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../../shell/probe.ts';

/** What containerd would do with the configuration that is on disk, defaults included. */
export interface RuntimeConfig {
  /** `unset` where the runtime's options do not say. */
  readonly cgroupDriver: 'systemd' | 'cgroupfs' | 'unset';
  readonly sandboxImage: string;
  readonly criDisabled: boolean;
}

type Table = { readonly [key: string]: unknown };

const table = (value: unknown): Table => (typeof value === 'object' && value !== null ? (value as Table) : {});
const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((v, key) => table(v)[key], value);

/**
 * `containerd config dump`: the effective configuration, migrated to the newest version; `absent` without containerd,
 * `invalid` when containerd refuses what is on disk.
 */
export const runtimeConfig = probe(
  // What the packages' service runs, where another one lies in PATH before it.
  sh`containerd=/usr/bin/containerd
     if ! [ -x $containerd ]; then containerd=$(command -v containerd) || containerd=; fi
     if [ -n "$containerd" ]; then "$containerd" config dump || echo '# invalid'; else echo '# absent'; fi`,
  (out): RuntimeConfig | 'absent' | 'invalid' => {
    if (out.trim() === '# absent') return 'absent';
    if (out.trimEnd().endsWith('# invalid')) return 'invalid';
    const dump = parseToml(out);
    const disabled = Array.isArray(dump['disabled_plugins']) ? dump['disabled_plugins'].map(String) : [];
    const one = at(dump, 'plugins', 'io.containerd.grpc.v1.cri');
    const runtime = at(dump, 'plugins', 'io.containerd.cri.v1.runtime');
    const options =
      at(runtime, 'containerd', 'runtimes', 'runc', 'options') ?? at(one, 'containerd', 'runtimes', 'runc', 'options');
    const systemd = table(options)['SystemdCgroup'];
    const sandbox =
      at(dump, 'plugins', 'io.containerd.cri.v1.images', 'pinned_images', 'sandbox') ?? table(one)['sandbox_image'];
    return {
      cgroupDriver: systemd === true ? 'systemd' : systemd === false ? 'cgroupfs' : 'unset',
      sandboxImage: typeof sandbox === 'string' ? sandbox : '',
      criDisabled: disabled.some(
        (name) => name === 'cri' || name.startsWith('io.containerd.cri') || name === 'io.containerd.grpc.v1.cri',
      ),
    };
  },
);

/** Images in the runtime's `k8s.io` namespace; none where no containerd runs. */
export const images = probe(
  sh`if [ -S /run/containerd/containerd.sock ] && command -v ctr >/dev/null && systemctl -q is-active containerd; then ctr -n k8s.io images ls -q; fi`,
  (out): ReadonlySet<string> => new Set(lines(out)),
);

/** CRI sockets on the host. kubeadm refuses to guess between two, so kbuild always names one. */
export const criSockets = probe(
  sh`for socket in /run/containerd/containerd.sock /run/crio/crio.sock /run/cri-dockerd.sock; do if [ -S "$socket" ]; then echo "$socket"; fi; done`,
  (out) => lines(out),
);

/** Which cgroup driver is in use; `none` where no pod runs, `mixed` when runtime and kubelet disagree. */
export type DriverInUse = 'systemd' | 'cgroupfs' | 'none' | 'mixed';

/**
 * What kubelet and runtime really use, read from the cgroups of running containers: the systemd driver nests slices and
 * scopes (`/kubepods.slice/…/cri-containerd-ID.scope`), cgroupfs plain folders (`/kubepods/…/ID`).
 */
export const cgroupDriverInUse = probe(
  sh`cat /proc/[0-9]*/cgroup 2>/dev/null | grep -E '/kubepods|cri-containerd' | cut -d: -f3- | sort -u || true`,
  (out): DriverInUse => {
    const drivers = new Set(
      lines(out).flatMap((path) => [
        path.includes('/kubepods.slice') ? 'systemd' : 'cgroupfs',
        ...(/[0-9a-f]{64}/.test(path) ? [path.endsWith('.scope') ? ('systemd' as const) : ('cgroupfs' as const)] : []),
      ]),
    );
    if (drivers.size === 0) return 'none';
    return drivers.size === 1 ? ([...drivers][0] as DriverInUse) : 'mixed';
  },
);

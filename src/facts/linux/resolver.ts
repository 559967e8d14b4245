import { script } from '../../templates.ts';
import { lines, probe } from '../../shell/probe.ts';

/** The nameservers of a host. */
export interface Resolver {
  /** Of /etc/resolv.conf. */
  readonly nameservers: readonly string[];
  /** Those that systemd-resolved forwards to; `absent` if it does not run. */
  readonly upstream: readonly string[] | 'absent';
}

const nameservers = (text: string): readonly string[] =>
  lines(text).flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? []);

/** kubeadm gives the kubelet systemd-resolved's own file where that service runs, else /etc/resolv.conf. */
export const resolver = probe(script('linux/probe-resolver.sh'), (out): Resolver => {
  const [own = '', upstream = ''] = out.split('---\n');
  return {
    nameservers: nameservers(own),
    upstream: upstream.startsWith('active') ? nameservers(upstream) : 'absent',
  };
});

/** The IPv4 addresses of a name; empty if the name does not exist; `silent` if no nameserver answered within the limit. */
export type Lookup = readonly string[] | 'silent';

/** What the host's own resolver answers for `localhost`, the host's own name and the given names. */
export const lookups = (names: readonly string[]) =>
  probe(
    script('linux/probe-lookups.sh', { NAMES: names }),
    (out): ReadonlyMap<string, Lookup> =>
      new Map(
        lines(out).map((line) => {
          const [name = '', kind, ...addresses] = line.trim().split(/\s+/);
          return [name, kind === 'silent' ? 'silent' : addresses] as const;
        }),
      ),
  );

import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** Where names are asked for. */
export interface Resolver {
  /** Of /etc/resolv.conf. */
  readonly nameservers: readonly string[];
  /** Those that systemd-resolved asks in its turn; `absent` where it does not run. */
  readonly upstream: readonly string[] | 'absent';
}

const nameservers = (text: string): readonly string[] =>
  lines(text).flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? []);

/** kubeadm gives the kubelet systemd-resolved's own file where that service runs, else /etc/resolv.conf. */
export const resolver = probe(
  sh`if [ -e /etc/resolv.conf ]; then cat /etc/resolv.conf; fi
     echo ---
     if systemctl -q is-active systemd-resolved 2>/dev/null; then
       echo active
       if [ -e /run/systemd/resolve/resolv.conf ]; then cat /run/systemd/resolve/resolv.conf; fi
     fi`,
  (out): Resolver => {
    const [own = '', upstream = ''] = out.split('---\n');
    return {
      nameservers: nameservers(own),
      upstream: upstream.startsWith('active') ? nameservers(upstream) : 'absent',
    };
  },
);

/** The IPv4 addresses of a name; empty when there is no such name, `silent` when nobody answered in time. */
export type Lookup = readonly string[] | 'silent';

/** What the host's own resolver says to `localhost`, the host's own name and the given names. */
export const lookups = (names: readonly string[]) =>
  probe(
    sh`look() {
         s=0; found=$(timeout 3 getent ahostsv4 "$2") || s=$?
         if [ $s = 124 ]; then echo "$1 silent"; else echo "$1 known" $(echo "$found" | cut -d' ' -f1 | sort -u); fi
       }
       look own "$(uname -n)" &
       for name in localhost ${names}; do look "$name" "$name" & done
       wait`,
    (out): ReadonlyMap<string, Lookup> =>
      new Map(
        lines(out).map((line) => {
          const [name = '', kind, ...addresses] = line.trim().split(/\s+/);
          return [name, kind === 'silent' ? 'silent' : addresses] as const;
        }),
      ),
  );

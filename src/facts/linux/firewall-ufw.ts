import { ALL_PORTS } from '../../inventory/openings.ts';
import { lines } from '../probe.ts';
import { OUR_NAME, portRange, type Allowed, type Firewall } from './firewall-rules.ts';

/** `6443/tcp                   ALLOW       10.0.0.0/24                # kbuild` of `ufw status`. Rules of IPv6 are left out. */
function rule(line: string): readonly Allowed[] | 'obscure' {
  const [, to, action, from, comment] =
    /^(\S.*?)\s{2,}(ALLOW|LIMIT|DENY|REJECT)(?: IN)?\s{2,}(\S.*?)\s*(?:#\s*(.*))?$/.exec(line) ?? [];
  if (to === undefined || action === 'DENY' || action === 'REJECT') return [];
  if (to.includes('(v6)') || from!.includes('(v6)') || / FWD$/.test(to)) return [];
  const source = from === 'Anywhere' ? 'any' : from!;
  if (!/^(?:any|[\d./]+)$/.test(source)) return 'obscure';
  const common = { hook: 'input', from: source, to: 'any', ours: comment?.trim() === OUR_NAME } as const;
  if (to === 'Anywhere') return [{ ...common, protocol: 'any', ports: ALL_PORTS }];
  const [, ports, protocol] = /^([\d:,]+)(?:\/(tcp|udp))?$/.exec(to) ?? [];
  if (ports === undefined) return 'obscure';
  return ports.split(',').map((one) => ({
    ...common,
    protocol: (protocol as 'tcp' | 'udp' | undefined) ?? 'any',
    ports: portRange(one),
  }));
}

/** `ufw status`: none where it is switched off. What it does with forwarded packets, flannel settles in the same chain. */
export function ufw(out: string): readonly Firewall[] {
  if (!/^Status: active/m.test(out)) return [];
  const rules = lines(out).map(rule);
  return [
    {
      kind: 'ufw',
      hook: 'input',
      place: 'ufw',
      allowed: rules.flatMap((one) => (one === 'obscure' ? [] : one)),
      obscure: rules.includes('obscure'),
    },
  ];
}

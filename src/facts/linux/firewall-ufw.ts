import { ALL_PORTS } from '../../topology/openings.ts';
import { lines } from '../../shell/probe.ts';
import { OUR_NAME, portRange, type Allowed, type Firewall } from './firewall-rules.ts';

/** A protocol without ports: `Anywhere                   ALLOW       10.0.0.12/vrrp`. */
const VRRP = /\/vrrp$/;

/** `6443/tcp                   ALLOW       10.0.0.0/24                # kbuild` of `ufw status`. Rules of IPv6 are left out. */
function rule(line: string): readonly Allowed[] | 'obscure' {
  const [rule = '', ...comment] = line.split('#');
  const [to = '', action = '', from = ''] = rule.trimEnd().split(/\s{2,}/);
  if (to === '' || from === '' || !/^(?:ALLOW|LIMIT)(?: IN)?$/.test(action)) return [];
  if (to.includes('(v6)') || from.includes('(v6)') || to.endsWith(' FWD')) return [];
  const isVrrp = VRRP.test(to) || VRRP.test(from);
  const sender = from.replace(VRRP, '');
  const source = sender === 'Anywhere' ? 'any' : sender;
  if (!/^(?:any|[\d./]+)$/.test(source)) return 'obscure';
  const common = { hook: 'input', from: source, to: 'any', ours: comment.join('#').trim() === OUR_NAME } as const;
  if (to.replace(VRRP, '') === 'Anywhere') return [{ ...common, protocol: isVrrp ? 'vrrp' : 'any', ports: ALL_PORTS }];
  const [, ports, protocol] = /^([\d:,]+)(?:\/(tcp|udp))?$/.exec(to) ?? [];
  if (ports === undefined) return 'obscure';
  return ports.split(',').map((one) => ({
    ...common,
    protocol: (protocol as 'tcp' | 'udp' | undefined) ?? 'any',
    ports: portRange(one),
  }));
}

/** `-A ufw-before-input -s 10.0.0.12/32 -p vrrp -j ACCEPT`: ufw before 0.36.2 knows no VRRP, and people write it there. */
function before(line: string): readonly Allowed[] {
  const [, from = 'any'] = /^-A ufw-before-input(?: -s (\S+?)(?:\/32)?)? -p (?:vrrp|112) -j ACCEPT$/.exec(line) ?? [];
  return [{ hook: 'input', protocol: 'vrrp', ports: ALL_PORTS, from, to: 'any', ours: false }];
}

/**
 * Parses `ufw status`, then rules of VRRP that lie before ufw's own. Nothing if ufw is off. Forwarded packets are left out: the
 * network plugin accepts its own in the same chain.
 */
export function ufw(out: string): readonly Firewall[] {
  if (!/^Status: active/m.test(out)) return [];
  const isBefore = (line: string): boolean => line.startsWith('-A ');
  const all = lines(out);
  const rules = [...all.filter((line) => !isBefore(line)).map(rule), ...all.filter(isBefore).map(before)];
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

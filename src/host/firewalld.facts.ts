import { ALL_PORTS, type Opening } from './openings.value.ts';

/** An opening that a firewall has. */
export interface Allowed extends Opening {
  /** True when kbuild made it. */
  readonly ours: boolean;
}

/** A firewall, or a chain of one, that drops packets for which it has no rule. */
export interface Firewall {
  readonly kind: 'ufw' | 'firewalld' | 'nftables';
  /** Packets to the host, or packets through it. */
  readonly hook: Opening['hook'];
  /** Where the rules are: the zones, or a chain as `family table chain`. */
  readonly place: string;
  readonly allowed: readonly Allowed[];
  /** True if there are rules that kbuild cannot parse: the firewall may let in more than `allowed`. */
  readonly obscure: boolean;
}

/** The name of kbuild's own rules: their comment, or the beginning of their policy's name. */
export const OUR_NAME = 'kbuild';

/** `6443`, `2379-2380` or `2379:2380`. */
export function portRange(text: string): Opening['ports'] {
  const [first, last] = text.split(/[:-]/).map(Number);
  return [first!, last ?? first!];
}

/** Ports of firewalld's own services that a node may have open by name. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  'kube-apiserver': ['6443/tcp'],
  'kube-control-plane': ['6443/tcp', '2379-2380/tcp', '10250/tcp', '10257/tcp', '10259/tcp'],
  'kube-api': ['6443/tcp'],
  'kube-worker': ['10250/tcp', '30000-32767/tcp'],
  kubelet: ['10250/tcp'],
  'etcd-server': ['2380/tcp'],
  'etcd-client': ['2379/tcp'],
};

/** A zone or a policy, as `--list-all-zones` and `--list-all-policies` show it. */
interface Section {
  readonly name: string;
  readonly active: boolean;
  readonly text: string;
}

const sections = (text: string): readonly Section[] =>
  text.split(/^(?=\S)/m).flatMap((block) => {
    const [, name, state = ''] = /^(\S+)(?: \((.*)\))?\s*$/.exec(block.split('\n', 1)[0]!) ?? [];
    return name === undefined ? [] : [{ name, active: /active/.test(state), text: block }];
  });

/** The lines of a section below its first one, trimmed. */
const linesOf = ({ text }: Section): readonly string[] =>
  text
    .split('\n')
    .filter((line) => /^\s/.test(line))
    .map((line) => line.trim());

function field(section: Section, name: string): readonly string[] {
  const line = linesOf(section).find((one) => one.startsWith(`${name}:`)) ?? '';
  return line
    .slice(name.length + 1)
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** `rule family="ipv4" source address="10.0.0.21" port port="6443" protocol="tcp" accept`, and those without a port. */
function richRule(line: string, common: Pick<Allowed, 'hook' | 'ours'>): Allowed | undefined {
  const [, source, destination, port, protocol, vrrp] =
    /^rule(?: priority="-?\d+")? family="ipv[46]"(?: source address="([\da-f.:/]+)")?(?: destination address="([\da-f.:/]+)")?(?: port port="([\d-]+)" protocol="(tcp|udp)")?(?: protocol value="(vrrp|112)")? accept$/.exec(
      line,
    ) ?? [];
  if ([source, destination, port, vrrp].every((one) => one === undefined)) return undefined;
  const ports: Opening['ports'] = port === undefined ? ALL_PORTS : portRange(port);
  const known = (protocol as 'tcp' | 'udp' | undefined) ?? (vrrp === undefined ? 'any' : 'vrrp');
  return { ...common, protocol: known, ports, from: source ?? 'any', to: destination ?? 'any' };
}

function richRules(section: Section, common: Pick<Allowed, 'hook' | 'ours'>) {
  const accepting = linesOf(section).filter((line) => line.startsWith('rule ') && line.endsWith('accept'));
  const read = accepting.map((line) => [line, richRule(line, common)] as const);
  return {
    allowed: read.flatMap(([, one]) => one ?? []),
    // firewalld's own rules of IPv6 let in the packets by which neighbours find each other.
    obscure: read.some(([line, one]) => one === undefined && !line.includes('family="ipv6"')),
  };
}

/** The packets that a zone lets in. A zone of sources lets in those alone. */
function zoneAllows(zone: Section): readonly Allowed[] {
  const sources = field(zone, 'sources');
  const common = { hook: 'input', to: 'any', ours: false } as const;
  const froms = sources.length === 0 ? ['any'] : sources;
  if (field(zone, 'target')[0] === 'ACCEPT')
    return froms.map((from) => ({ ...common, protocol: 'any', ports: ALL_PORTS, from }) as const);
  const ports = [...field(zone, 'ports'), ...field(zone, 'services').flatMap((name) => SERVICES[name] ?? [])];
  const vrrp = field(zone, 'protocols').some((name) => name === 'vrrp' || name === '112')
    ? froms.map((from) => ({ ...common, protocol: 'vrrp' as const, ports: ALL_PORTS, from }))
    : [];
  const listed = ports.flatMap((one) => {
    const [range = '', protocol = ''] = one.split('/');
    return froms.map((from) => ({ ...common, protocol: protocol as 'tcp' | 'udp', ports: portRange(range), from }));
  });
  return [...listed, ...vrrp];
}

/** The packets that a zone which accepts all lets through: from its sources, or to them. */
const zonePasses = (zone: Section): readonly Allowed[] =>
  field(zone, 'target')[0] !== 'ACCEPT'
    ? []
    : field(zone, 'sources').flatMap((source) =>
        [
          { from: source, to: 'any' },
          { from: 'any', to: source },
        ].map((way) => ({ ...way, hook: 'forward' as const, protocol: 'any' as const, ports: ALL_PORTS, ours: false })),
      );

/**
 * `default ZONE`, then `firewall-cmd --list-all-zones`, `policies` and `--list-all-policies`. Only active zones count,
 * and the default zone, which has the interfaces that no zone names: those of pods too.
 */
export function firewalld(out: string): readonly Firewall[] {
  const [head = '', rest = ''] = out.split(/^policies\n/m);
  const usual = /^default (\S+)$/m.exec(head)?.[1];
  const zones = sections(head.replace(/^default .*\n/m, '')).filter(({ name, active }) => active || name === usual);
  const policies = sections(rest).filter(({ active }) => active);
  const place = zones.map(({ name }) => name).join(', ');
  const ours = ({ name }: Section): boolean => name.startsWith(OUR_NAME);
  const to = (policy: Section, egress: string): boolean =>
    field(policy, 'ingress-zones').includes('ANY') && field(policy, 'egress-zones').includes(egress);
  const read = (hook: Opening['hook'], of: readonly Section[]) =>
    of.map((policy) => richRules(policy, { hook, ours: ours(policy) }));
  const input = [
    ...zones.map((zone) => richRules(zone, { hook: 'input', ours: false })),
    ...read(
      'input',
      policies.filter((policy) => to(policy, 'HOST')),
    ),
  ];
  const forward = read(
    'forward',
    policies.filter((policy) => to(policy, 'ANY')),
  );
  const common = { kind: 'firewalld', place } as const;
  const passing = forward.flatMap(({ allowed }) => allowed);
  return [
    {
      ...common,
      hook: 'input',
      allowed: [...zones.flatMap(zoneAllows), ...input.flatMap(({ allowed }) => allowed)],
      obscure: input.some(({ obscure }) => obscure),
    },
    // `forward: yes` applies to interfaces that the zone names: those of pods never are among them.
    {
      ...common,
      hook: 'forward',
      allowed: [...zones.flatMap(zonePasses), ...passing],
      obscure: forward.some(({ obscure }) => obscure),
    },
  ];
}

import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { familyOf } from '../inventory/addresses.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import type { Watches } from '../shell/watched.ts';
import { script, scriptFile } from '../templates.ts';
import { fileChanges } from './file.step.ts';
import type { Firewall } from './firewalld.facts.ts';
import { desiredOpenings, openingsText } from './openings.ts';
import type { Opening } from './openings.value.ts';

/** The openings that kbuild wants in a firewall, and its own rules that it found there. */
interface Difference {
  readonly firewall: Firewall;
  readonly wanted: readonly Opening[];
  readonly found: readonly Opening[];
}

const key = ({ hook, protocol, ports, from, to }: Opening): string => [hook, protocol, ...ports, from, to].join(' ');

/** The openings that `others` do not have. */
function onlyIn(these: readonly Opening[], others: readonly Opening[]): readonly Opening[] {
  const known = new Set(others.map(key));
  return these.filter((opening) => !known.has(key(opening)));
}

/** Openings that differ only in their ports, with all ports in order. */
interface Group extends Pick<Opening, 'hook' | 'protocol' | 'from' | 'to'> {
  readonly ports: readonly number[];
}

/** The openings in as few groups as possible. */
function grouped(all: readonly Opening[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { hook, protocol, from, to, ports } of all) {
    const name = [hook, protocol, from, to].join(' ');
    const known = groups.get(name)?.ports ?? [];
    const sorted = [...new Set([...known, ports[0]])].toSorted((a, b) => a - b);
    groups.set(name, { hook, protocol, from, to, ports: sorted });
  }
  return [...groups.values()];
}

const SERVICE = 'kbuild-firewall';

/** Runs after the chains are loaded, and again whenever they are reloaded. */
const UNIT = `${OWN_HEADER}.
[Unit]
Description=Opens in the packet filter what Kubernetes needs
After=nftables.service netfilter-persistent.service
PartOf=nftables.service
ReloadPropagatedFrom=nftables.service
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh ${paths.firewallScript}
ExecReload=/bin/sh ${paths.firewallScript}
ExecStop=/bin/sh ${paths.firewallScript} stop

[Install]
WantedBy=multi-user.target nftables.service
`;

const FILES = [paths.firewallRules, paths.firewallScript, paths.firewallUnit];

/** The files and units that `packetFilterChanges` reads. */
const PACKET_FILTER_WATCHES: Watches = { files: FILES, units: [SERVICE] };

const any = (word: string): string => (word === 'any' ? '-' : word);

const hasPorts = (protocol: Opening['protocol']): boolean => protocol === 'tcp' || protocol === 'udp';

const rules = (all: readonly Difference[]): readonly string[] =>
  all.flatMap(({ firewall, wanted }) =>
    grouped(wanted).map(({ from, to, protocol, ports }) =>
      [firewall.place, any(from), any(to), any(protocol), hasPorts(protocol) ? ports.join(',') : '-'].join(' '),
    ),
  );

function closingChanges(target: Target): readonly Change[] {
  const files = FILES.filter((path) => target.facts.ownFiles.includes(path));
  if (files.length === 0) return [];
  return [
    {
      summary: `close in the packet filter what kbuild opened (found ${files.join(', ')})`,
      apply: runs(
        target.host,
        sh`systemctl disable --now ${SERVICE} 2>/dev/null || true; rm -f -- ${FILES}; systemctl daemon-reload`,
      ),
    },
  ];
}

/**
 * The changes of the host's nftables chains. A file has kbuild's rules, and a service puts them first in each chain
 * after boot, because the host's own rule files do not have them. Another chain cannot accept a packet that one chain
 * drops.
 */
function packetFilterChanges(target: Target, all: readonly Difference[]): readonly Change[] {
  const desired = rules(all);
  if (desired.length === 0) return closingChanges(target);
  const files = [
    ...fileChanges(target, { path: paths.firewallRules, content: `${OWN_HEADER}.\n${desired.join('\n')}\n` }),
    ...fileChanges(target, {
      path: paths.firewallScript,
      content: `${OWN_HEADER}.\n${scriptFile('host/kbuild-firewall.sh')}`,
    }),
    ...fileChanges(target, { path: paths.firewallUnit, content: UNIT }),
  ];
  const missing = all.flatMap(({ wanted, found }) => onlyIn(wanted, found));
  const extra = all.flatMap(({ wanted, found }) => onlyIn(found, wanted));
  const state = target.facts.services.get(SERVICE);
  const isRunning = state?.active === 'active' && state.enabled === 'enabled' && !state.needsDaemonReload;
  if (files.length === 0 && missing.length === 0 && extra.length === 0 && isRunning) return [];
  const what =
    missing.length > 0
      ? `open ${openingsText(missing)} in nftables (found closed)`
      : extra.length > 0
        ? `close ${openingsText(extra)} in nftables (found open, no longer needed)`
        : `start ${SERVICE} (found ${state?.active ?? 'none'})`;
  const apply = runs(
    target.host,
    sh`systemctl daemon-reload; systemctl -q enable ${SERVICE}; systemctl restart ${SERVICE}`,
  );
  return [...files, { summary: what, apply }];
}

const lines = (all: readonly Opening[]): readonly string[] =>
  grouped(all).map(({ from, protocol, ports }) => `${from} ${protocol} ${ports.join(',')}`);

const ufwApply = ({ host }: Target, { wanted, found }: Difference): NonNullable<Change['apply']> => {
  const [open, close] = [lines(wanted), lines(found)];
  return runs(
    host,
    script('host/open-ufw.sh', {
      OPEN: open.filter((line) => !close.includes(line)),
      CLOSE: close.filter((line) => !open.includes(line)),
    }),
  );
};

function richRule({ from, to, protocol, ports }: Opening): string {
  const source = from === 'any' ? '' : ` source address="${from}"`;
  const destination = to === 'any' ? '' : ` destination address="${to}"`;
  const what =
    protocol === 'any'
      ? ''
      : protocol === 'vrrp'
        ? ' protocol value="vrrp"'
        : ` port port="${String(ports[0])}" protocol="${protocol}"`;
  const family = [from, to].some((one) => familyOf(one) === 'IPv6') ? 'ipv6' : 'ipv4';
  return `rule family="${family}"${source}${destination}${what} accept`;
}

const firewalldApply = ({ host }: Target, all: readonly Difference[]): NonNullable<Change['apply']> => {
  const rules = (hook: Opening['hook']) =>
    all.flatMap(({ wanted }) => wanted.filter((opening) => opening.hook === hook).map(richRule));
  return runs(host, script('host/open-firewalld.sh', { INPUT: rules('input'), FORWARD: rules('forward') }));
};

/** The changes of the host's firewalls. `wantedOf`: the openings that kbuild wants in a firewall. */
function changes(target: Target, wantedOf: (firewall: Firewall) => readonly Opening[]): readonly Change[] {
  const all = target.facts.firewall.map((firewall): Difference => ({
    firewall,
    wanted: wantedOf(firewall),
    found: firewall.allowed.filter(({ ours }) => ours),
  }));
  const ofKind = (kind: Firewall['kind']) => all.filter(({ firewall }) => firewall.kind === kind);
  const programs = (['ufw', 'firewalld'] as const).flatMap((kind): readonly Change[] => {
    const mine = ofKind(kind);
    const missing = mine.flatMap(({ wanted, found }) => onlyIn(wanted, found));
    const extra = mine.flatMap(({ wanted, found }) => onlyIn(found, wanted));
    if (missing.length === 0 && extra.length === 0) return [];
    const verb = missing.length > 0 ? 'open' : 'close';
    const why = missing.length > 0 ? 'found closed' : 'found open, no longer needed';
    return [
      {
        summary: `${verb} ${openingsText(missing.length > 0 ? missing : extra)} in ${kind} (${why})`,
        apply: kind === 'ufw' ? ufwApply(target, mine[0]!) : firewalldApply(target, mine),
      },
    ];
  });
  return [...programs, ...packetFilterChanges(target, ofKind('nftables'))];
}

/** Opens what hosts and pods need of this host, now and after a reboot, if the inventory has `firewall: open`. */
export const firewallOpen: Step = {
  name: 'firewall-open',
  watches: PACKET_FILTER_WATCHES,
  diff: (target) =>
    target.inventory.firewall === 'report'
      ? []
      : changes(target, (firewall) => desiredOpenings(target.inventory, target.host, firewall)),
};

/** Closes everything that kbuild opened. */
export const firewallClosed: Step = {
  name: 'firewall-closed',
  watches: PACKET_FILTER_WATCHES,
  diff: (target) => changes(target, () => []),
};

import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { script } from '../templates.ts';
import type { Firewall } from './firewall-rules.facts.ts';
import { type Difference, grouped, onlyIn, PACKET_FILTER_WATCHES, packetFilterChanges } from './nftables.step.ts';
import { desiredOpenings, openingsText } from './openings.ts';
import type { Opening } from './openings.value.ts';

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
  return `rule family="ipv4"${source}${destination}${what} accept`;
}

const firewalldApply = ({ host }: Target, all: readonly Difference[]): NonNullable<Change['apply']> => {
  const rules = (hook: Opening['hook']) =>
    all.flatMap(({ wanted }) => wanted.filter((opening) => opening.hook === hook).map(richRule));
  return runs(host, script('host/open-firewalld.sh', { INPUT: rules('input'), FORWARD: rules('forward') }));
};

/** The changes of the host's firewalls. `wantedOf`: what kbuild wants open in a firewall. */
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

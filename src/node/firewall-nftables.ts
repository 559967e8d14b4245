import { openingsText } from '../cluster/openings.ts';
import type { Change, Target } from '../engine/step.ts';
import type { Watches } from '../facts/watched.ts';
import type { Opening } from '../topology/openings.ts';
import { paths } from '../paths.ts';
import { fileChanges, OURS } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { sh } from '../shell/sh.ts';
import { scriptFile } from '../templates.ts';
import { grouped, onlyIn, type Difference } from './openings.ts';

const SERVICE = 'kbuild-firewall';

/** It starts when the chains are there, and again whenever they are loaded anew. */
const UNIT = `${OURS}.
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

const OURS_NOW = [paths.firewallRules, paths.firewallScript, paths.firewallUnit];

/** What `packetFilterChanges` asks about. */
export const PACKET_FILTER_WATCHES: Watches = { files: OURS_NOW, units: [SERVICE] };

const any = (word: string): string => (word === 'any' ? '-' : word);

const hasPorts = (protocol: Opening['protocol']): boolean => protocol === 'tcp' || protocol === 'udp';

const rules = (all: readonly Difference[]): readonly string[] =>
  all.flatMap(({ firewall, wanted }) =>
    grouped(wanted).map(({ from, to, protocol, ports }) =>
      [firewall.place, any(from), any(to), any(protocol), hasPorts(protocol) ? ports.join(',') : '-'].join(' '),
    ),
  );

function noneChanges(target: Target): readonly Change[] {
  const files = OURS_NOW.filter((path) => target.facts.ownFiles.includes(path));
  if (files.length === 0) return [];
  return [
    {
      summary: `close in the packet filter what kbuild opened (found ${files.join(', ')})`,
      apply: runs(
        target.host,
        sh`systemctl disable --now ${SERVICE} 2>/dev/null || true; rm -f -- ${OURS_NOW}; systemctl daemon-reload`,
      ),
    },
  ];
}

/**
 * What differs in chains of nftables. Their rules lie in a file and a service puts them first in the chains: what loads
 * the chains at boot does not know them. A rule that lets in cannot be elsewhere: what one chain drops is lost.
 */
export function packetFilterChanges(target: Target, all: readonly Difference[]): readonly Change[] {
  const wanted = rules(all);
  if (wanted.length === 0) return noneChanges(target);
  const files = [
    ...fileChanges(target, { path: paths.firewallRules, content: `${OURS}.\n${wanted.join('\n')}\n` }),
    ...fileChanges(target, {
      path: paths.firewallScript,
      content: `${OURS}.\n${scriptFile('linux/kbuild-firewall.sh')}`,
    }),
    ...fileChanges(target, { path: paths.firewallUnit, content: UNIT }),
  ];
  const missing = all.flatMap((one) => onlyIn(one.wanted, one.found));
  const extra = all.flatMap((one) => onlyIn(one.found, one.wanted));
  const state = target.facts.services.get(SERVICE);
  const stands = state?.active === 'active' && state.enabled === 'enabled' && !state.needsDaemonReload;
  if (files.length === 0 && missing.length === 0 && extra.length === 0 && stands) return [];
  const what =
    missing.length > 0
      ? `open ${openingsText(missing)} in nftables (found closed)`
      : extra.length > 0
        ? `close ${openingsText(extra)} in nftables (found open, nobody needs it now)`
        : `start ${SERVICE} (found ${state?.active ?? 'none'})`;
  const apply = runs(
    target.host,
    sh`systemctl daemon-reload; systemctl -q enable ${SERVICE}; systemctl restart ${SERVICE}`,
  );
  return [...files, { summary: what, apply }];
}

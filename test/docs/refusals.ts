import { apiReasons, livingReasons } from '../../src/backup/lost-cluster.ts';
import { backupReasons, controlPlaneReasons, workerReasons } from '../../src/backup/restore.refusal.ts';
import { authorityChangeReasons } from '../../src/certificates/authority-change.refusal.ts';
import { rotationReasons } from '../../src/certificates/rotation.refusal.ts';
import { changeReasons } from '../../src/cluster/host.refusal.ts';
import { deadReasons } from '../../src/cluster/member-host.ts';
import type { Reason } from '../../src/cluster/reasons.ts';
import { removalReasons, resetReasons } from '../../src/cluster/remove.refusal.ts';
import { upReasons } from '../../src/cluster/up.refusal.ts';
import { oldEndpointReasons } from '../../src/commands/move-endpoint.phases.ts';
import { rebootReasons } from '../../src/host/reboot.refusal.ts';
import { moveReasons } from '../../src/kubeadm/endpoint.refusal.ts';
import { type NamedRefusal, refusalSubjects } from '../../src/refusals/refusals.ts';
import { upgradeReasons } from '../../src/upgrade/upgrade.refusal.ts';

const INTRODUCTION = `# Refusals

<!-- Generated from src/refusals by "npm run docs:refusals"; do not edit. -->

A refusal ends a command with exit code 7. No flag overrides it. It is printed with what was found, what to do, and its name:

\`\`\`
kbuild: cp1: refused: locked: held by alice@laptop (pid 4321) since 2026-11-22T12:03:00Z: kbuild up
  → wait until that run has ended; if it runs nowhere any more: kbuild unlock --force
  why: kbuild explain locked
\`\`\`

\`kbuild explain NAME\` prints the text of this page. Events (\`failed\`), the record of a run and problems of \`kbuild status --json\` have the name as
\`refusal\`. Names are stable; the words of a message are not.
`;

const row = ({ name, title }: NamedRefusal): string => `| [\`${name}\`](#${name}) | ${title} |`;

const section = ({ name, title, why }: NamedRefusal): string =>
  `### ${name}\n\nkbuild refuses when ${title}.\n\n${why}\n`;

/** What a command refuses before it starts. */
const LISTS: readonly (readonly [command: string, reasons: readonly Pick<Reason<never>, 'names'>[]])[] = [
  ['every command that changes hosts', changeReasons],
  ['`up`, `upgrade`, `reboot`, `plan`', upReasons.slice(changeReasons.length)],
  ['`up`, `upgrade`, `reboot`, `plan` with `--dead`, on top', deadReasons],
  ['`upgrade`, on top', upgradeReasons],
  ['`remove`, `reset --hosts`', removalReasons],
  ['`reset`', resetReasons],
  ['`reboot`, on top', rebootReasons],
  ['`move-endpoint`', [...moveReasons, ...oldEndpointReasons]],
  ['`certs renew-ca`', authorityChangeReasons],
  ['`certs rotate-ca`', [...authorityChangeReasons, ...rotationReasons]],
  ['`restore`', [...backupReasons, ...apiReasons, ...workerReasons, ...controlPlaneReasons, ...livingReasons]],
];

const listed = ([command, reasons]: (typeof LISTS)[number]): string => {
  const names = new Set(reasons.flatMap((one) => one.names));
  return `| ${command} | ${[...names].map((name) => `[\`${name}\`](#${name})`).join(', ')} |`;
};

/** docs/refusals.md. */
export const refusalsReference = (): string =>
  [
    INTRODUCTION,
    ...refusalSubjects.map(
      ({ subject, refusals }) =>
        `## ${subject}\n\n| refusal | kbuild refuses when |\n| --- | --- |\n${refusals.map(row).join('\n')}\n`,
    ),
    `## Before a command starts\n\nA command that needs the live cluster ends with \`no-cluster\` or \`cluster-down\` where there is none. Commands that change hosts refuse what the first row names, and then what their own row names, all at once:\n\n| command | refusals |\n| --- | --- |\n${LISTS.map(listed).join('\n')}\n`,
    '## Every refusal\n',
    ...refusalSubjects.flatMap(({ refusals }) => refusals.map(section)),
  ].join('\n');

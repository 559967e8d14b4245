import type { Check } from './check.ts';
import { fleetChecks, hostChecks, surveyChecks, windowsChecks } from './index.ts';

const INTRODUCTION = `# Preflight checks

<!-- Generated from src/checks by "npm run docs:checks"; do not edit. -->

\`kbuild check\` connects to every host, reads what it needs in one command each, runs all checks and shows all findings at
once, by host. \`kbuild up\` does the same before it plans. Nothing is changed while a finding is an error or unknown.

| severity | meaning                        | stops \`up\` |
| -------- | ------------------------------ | ---------- |
| error    | \`up\` cannot mend it            | yes        |
| unknown  | the check could not look       | yes        |
| due      | found, and \`up\` will mend it   | no         |
| warning  | said once, or an ignored error | no         |

- \`--ignore-check NAME,…\` and the inventory's \`ignoreChecks: [NAME]\` lower what a check finds to warnings. There is no way
  to ignore all of them.
- \`--active\` adds the **surveys**: what takes time or several hosts. \`up\` makes them by itself before it changes hosts that
  are in no cluster yet.
- \`--json\` prints one document, \`--junit FILE\` writes the findings for a pipeline.
- What no flag may wave through (another cluster, its CA or etcd data, lost quorum, a version step, settings that Kubernetes
  cannot change) is no check but a **refusal**: exit 7. Mistakes in the inventory itself (overlapping or small networks, roles,
  counts, versions) are told by \`kbuild validate\`, with their line: exit 2.
`;

const row = ({ name, title, severities }: Check): string =>
  `| [\`${name}\`](#${name}) | ${title} | ${severities.join(', ')} |`;

const table = (title: string, checks: readonly Check[]): string =>
  `## ${title}\n\n| check | what it asks for | finding |\n| --- | --- | --- |\n${checks.map(row).join('\n')}\n`;

const section = ({ name, title, why }: Check): string =>
  `### ${name}\n\n${title[0]!.toUpperCase()}${title.slice(1)}.\n\n${why}\n`;

/** docs/checks.md. `provoked`: where the fault that a check finds was made for real, by check. */
export function checksReference(provoked: Readonly<Record<string, string>>): string {
  const all = [...hostChecks, ...windowsChecks, ...fleetChecks, ...surveyChecks];
  const rows = all.map(({ name }) => `| \`${name}\` | ${provoked[name] ?? 'unit test'} |`);
  return [
    INTRODUCTION,
    table('Each Linux host', hostChecks),
    table('Each Windows host (simulated; never run on Windows hardware)', windowsChecks),
    table('All hosts together', fleetChecks),
    table('Surveys', surveyChecks),
    `## Every check\n`,
    ...all.map(section),
    `## Where each was provoked\n\nEvery check is tested both ways, on what Debian 12 and 13 and Ubuntu 22.04 and 24.04 print. Those that the lab can provoke were provoked\non real hosts too (\`preflight\`, \`faults\` and \`firewall\` in \`test/lab/scenarios\`); firewalld by hand.\n\n| check | provoked in |\n| --- | --- |\n${rows.join('\n')}\n`,
  ].join('\n');
}

import { fleetChecks, hostChecks, surveyChecks, windowsChecks } from '../../src/commands/every.checks.ts';
import type { Check } from '../../src/engine/check.ts';

const INTRODUCTION = `# Preflight checks

<!-- Generated from the checks (src/commands/every.checks.ts) by "npm run docs:checks"; do not edit. -->

\`kbuild check\` connects to every host, observes it with one command, runs all checks, and prints all findings by host.
\`kbuild up\` does the same before it plans. \`up\` changes nothing while a finding is an error or unknown.

| severity | meaning                        | stops \`up\` |
| -------- | ------------------------------ | ---------- |
| error    | \`up\` cannot mend it            | yes        |
| unknown  | the check could not observe it | yes        |
| due      | found, and \`up\` will mend it   | no         |
| warning  | printed, or an ignored error   | no         |

- \`--ignore-check NAME,…\` and the inventory's \`ignoreChecks: [NAME]\` lower the findings of a check to warnings. There is no
  way to ignore all checks.
- \`--active\` adds the **surveys**: measurements that take time or need several hosts. \`up\` runs them before it changes a host
  that is in no cluster yet.
- \`--json\` prints one document, \`--junit FILE\` writes the findings for a pipeline.
- No flag ignores a **refusal** (exit 7): another cluster, its CA or etcd data, lost quorum, a version step, a setting that
  Kubernetes cannot change.
- \`kbuild validate\` reports mistakes in the inventory itself (overlapping or small networks, roles, counts, versions) with
  their line: exit 2.
`;

const row = ({ name, title, severities }: Check): string =>
  `| [\`${name}\`](#${name}) | ${title} | ${severities.join(', ')} |`;

const table = (title: string, checks: readonly Check[]): string =>
  `## ${title}\n\n| check | what must be true | finding |\n| --- | --- | --- |\n${checks.map(row).join('\n')}\n`;

const section = ({ name, title, why }: Check): string =>
  `### ${name}\n\n${title[0]!.toUpperCase()}${title.slice(1)}.\n\n${why}\n`;

/** docs/checks.md. `provoked`: check → where its fault was caused on a real host. */
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
    `## Where each was provoked\n\nUnit tests show every check a good and a bad host, with output of Debian 12 and 13 and Ubuntu 22.04 and 24.04. The lab causes the\nfaults that it can on real hosts too (\`preflight\`, \`faults\` and \`firewall\` in \`test/lab/scenarios\`). firewalld was tried by hand.\n\n| check | provoked in |\n| --- | --- |\n${rows.join('\n')}\n`,
  ].join('\n');
}

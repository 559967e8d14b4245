/** What stopped a newcomer, D1 to D30, and the test that holds each mend: a test that goes away takes its mend with it. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const at = (file: string): URL => new URL(`../${file}`, import.meta.url);

/** The defect, in short; then file below test/ and name of a test, as its source has them. */
const HELD: readonly (readonly [defect: string, what: string, ...held: readonly (readonly [string, string])[]])[] = [
  [
    'D1',
    'an unknown host key, a wrong user or port is exit 3, with the reason of SSH last',
    [
      'integration/first-contact.test.ts',
      'ends with exit 3, and the fingerprint and the way to go are said once, at the end',
    ],
    [
      'integration/first-contact.test.ts',
      'kbuild plan on a host that cannot be reached ends with exit 3, and its last lines are',
    ],
  ],
  [
    'D2',
    'a control plane that is not reached has the remedy of its own reason',
    [
      'integration/first-contact.test.ts',
      'ends with exit 3, and the fingerprint and the way to go are said once, at the end',
    ],
    [
      'cluster/no-cluster.test.ts',
      'and a control plane was not reached: it may hold one, and no remedy builds a second one',
    ],
  ],
  [
    'D3',
    'README: host keys, agent, kubectl',
    ['docs/project.test.ts', '%s: host keys, the agent and kubectl are named (D3)'],
  ],
  [
    'D4',
    'broken overrides of kubeadm and the kubelet',
    ['inventory/kubernetes-inputs.test.ts', 'what kubeadm, the kubelet and kube-proxy would not take'],
    [
      'inventory/kubelet-patch.test.ts',
      'a field that the kubelet has not is refused in a patch of its configuration, by file and field',
    ],
  ],
  [
    'D5',
    'the package holds the program, and installs nothing else',
    ['docs/project.test.ts', 'npm pack builds the program first: a package from a fresh clone has it'],
    ['release/release.test.ts', 'installs nothing else and runs no script; the rest is as in the repository'],
  ],
  [
    'D6',
    'files to install, and an address to report to',
    ['lab/long/release.test.ts', 'is installed without a network'],
    ['docs/project.test.ts', 'package.json names the repository, its bugs and the keywords of src/versions.ts'],
  ],
  [
    'D7',
    'a file that cannot be written is no bug in kbuild',
    [
      'commands/inventory-commands.test.ts',
      'an empty file, as a shell leaves it behind, is written; a folder that is missing is said',
    ],
    [
      'integration/controller.test.ts',
      'a report that cannot be written, and options that do not go together, are exit 2 with the remedy',
    ],
  ],
  [
    'D8',
    'init checks each answer',
    [
      'commands/inventory-commands.test.ts',
      'init holds each answer against the rules when it is given, and asks again',
    ],
  ],
  ['D9', 'wrapped at words', ['report/styled.test.ts', 'is wrapped at words, and continued lines hang below the text']],
  ['D10', 'colours by kind', ['report/styled.test.ts', '%s has its colour by its kind']],
  [
    'D11',
    'YAML in our words',
    [
      'inventory/first-mistakes.test.ts',
      'first mistakes each have a message with the line, the cause and the way to go',
    ],
  ],
  [
    'D12',
    'README without a doubled part',
    [
      'docs/project.test.ts',
      'is one screen and a half, and names no page of the documentation twice in its list (D12)',
    ],
  ],
  [
    'D13',
    'a host without systemd',
    [
      'integration/first-contact.test.ts',
      'without systemd: one reason, at once, and no wait for what it cannot tell (D13)',
    ],
  ],
  [
    'D14',
    'a mistyped command of a group is no file',
    ['commands/inventory-commands.test.ts', 'a word that names nothing is refused before a host is contacted (D14)'],
  ],
  [
    'D15',
    'schema X',
    ['commands/inventory-commands.test.ts', 'schema NAME prints the schema of a document; another name is refused'],
  ],
  [
    'D16',
    'a slow login shell is no wrong clock',
    [
      'cluster/fleet/observe-linux.test.ts',
      'the clock of an account whose login shell takes a minute is not off for that',
    ],
  ],
  [
    'D17',
    'who is waited for',
    [
      'integration/first-contact.test.ts',
      'with a login shell that takes long: the host is named while it is waited for, and one finding says why',
    ],
  ],
  [
    'D18',
    'errors of the system in words',
    ['cli/command-line-error.test.ts', 'the end of a command'],
    ['integration/first-contact.test.ts', 'the address, where the name does not resolve or no name server answers'],
  ],
  [
    'D19',
    'warnings in full once',
    [
      'session/shown-warnings.test.ts',
      'warnings are shown in full once, and then by count and name, until they change',
    ],
  ],
  [
    'D20',
    'the report of a failure begins with what to do',
    ['report/page/page.test.ts', 'says first what failed in a sentence, why, what to do and what to type next (D20)'],
    [
      'session/last-words.test.ts',
      'the end of a log has the time of each line, and a message that is repeated once (D20)',
    ],
  ],
  [
    'D21',
    '"found the cluster"',
    ['docs/project.test.ts', 'no page and no message says "found" for making a cluster (D21)'],
  ],
  [
    'D22',
    'remedies that are refused',
    [
      'inventory/first-mistakes.test.ts',
      'first mistakes each have a message with the line, the cause and the way to go',
    ],
  ],
  [
    'D23',
    'the example of network.plugin',
    ['report/explain.test.ts', 'the example of the network plugin is one that validate accepts (D23)'],
  ],
  [
    'D24',
    'findings counted by check and host, a verdict',
    ['report/verdict.test.ts', 'checks that failed are counted by check and host, and their findings beside them'],
    ['report/verdict.test.ts', 'the verdict says whether up may start, and what else was found'],
  ],
  [
    'D25',
    'no typing mistake leads to a destructive command',
    ['cli/command-line-error.test.ts', 'never leads to a destructive command: %s'],
    [
      'cli/command-line-error.test.ts',
      'options of other tools have the words of kbuild, others the help of their command',
    ],
  ],
  [
    'D26',
    'explain finds a setting by its last word',
    ['report/explain.test.ts', 'explains a setting by any way to write its path'],
  ],
  [
    'D27',
    'no claim beyond the lab, changes accounted for',
    ['docs/project.test.ts', 'claims no more than the lab: the number of checks, and what its hosts are (D27)'],
    ['report/standing.test.ts', 'accounts for planned changes that were not needed any more (D27)'],
  ],
  [
    'D28',
    'the library: typed errors, none twice',
    [
      'integration/library.test.ts',
      'a host that does not answer is told once, with what to do, and the process ends after close',
    ],
  ],
  [
    'D29',
    'two clusters of one name',
    ['commands/report.test.ts', 'an inventory means its own runs, though another cluster of its name ran later'],
  ],
  ['D30', 'what people misread', ['docs/project.test.ts', 'what people misread is said otherwise (D30)']],
];

test('each of D1 to D30 is named once, in order', () => {
  expect(HELD.map(([defect]) => defect)).toEqual(Array.from({ length: 30 }, (_, i) => `D${String(i + 1)}`));
});

test.each(HELD)('%s (%s): the tests that hold it are there', (_defect, _what, ...rest) => {
  const held = rest as readonly (readonly [file: string, name: string])[];
  expect(held.length).toBeGreaterThan(0);
  for (const [file, name] of held) {
    expect(existsSync(at(file)), file).toBe(true);
    const titles = [...readFileSync(at(file), 'utf8').matchAll(/\(\s*(['`])((?:(?!\1).)+)\1,/g)].map(([, , title]) =>
      title!.replaceAll("\\'", "'"),
    );
    expect(
      titles.some((title) => title.includes(name)),
      `${file}: ${name}`,
    ).toBe(true);
  }
});

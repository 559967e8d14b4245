/** Words that docs/contributing.md rules out, because a sentence with them does not say who acts. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../tools/files-in.ts';

const root = new URL('../../', import.meta.url);
const VAGUE = /\b(?:whoever|whom|nobody|somebody|anybody)\b/i;
/** Their text is on hosts, or a hash of it in the cluster: another word in a comment would restart what runs. */
const ON_HOSTS = ['templates/runtime/cri-docker.socket.hbs', 'templates/windows/pods/prepare-flannel.ps1'];
/** It quotes the words, and what to write instead. */
const RULES = 'docs/contributing.md';
/** The value `nobody` of `renewedBy`, quoted in code and set off in text. */
const VALUE = /(['"`])nobody\1|\*\*nobody\*\*/g;

const isText = (name: string): boolean => /\.(?:ts|sh|ps1|hbs|md)$/.test(name);
const textsIn = (folder: string): readonly string[] =>
  filesIn(folder, '')
    .filter(isText)
    .map((name) => `${folder}/${name}`);

test.each(['src', 'templates', 'docs'])('%s: every sentence says who acts', (folder) => {
  const found = textsIn(folder)
    .filter((file) => file !== RULES && !ON_HOSTS.includes(file))
    .flatMap((file) =>
      readFileSync(new URL(file, root), 'utf8')
        .split('\n')
        .flatMap((line, n) =>
          VAGUE.test(line.replaceAll(VALUE, '')) ? [`${file}:${String(n + 1)} ${line.trim()}`] : [],
        ),
    );
  expect(found).toEqual([]);
});

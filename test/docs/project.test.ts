import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUGS, KEYWORDS, REPOSITORY } from '../../src/versions.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, unknown>
>;

test('package.json names the repository, its bugs and the keywords of src/versions.ts', () => {
  expect(manifest).toMatchObject({
    repository: { type: 'git', url: `git+${REPOSITORY}.git` },
    bugs: BUGS,
    homepage: `${REPOSITORY}#readme`,
    keywords: KEYWORDS,
  });
});

test('npm pack builds the program first: a package from a fresh clone has it', () => {
  expect(manifest['scripts']).toMatchObject({ prepack: 'npm run build' });
});

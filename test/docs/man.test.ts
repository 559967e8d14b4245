import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { describe, expect, test } from 'vitest';
import { manualPages, roffText } from './man.ts';

const pages = manualPages();
const folder = fileURLToPath(new URL('../../docs/man/', import.meta.url));

/** A page as a terminal shows it. */
const rendered = (text: string): string =>
  execFileSync('groff', ['-man', '-Tascii', '-P-cbou', '-rLL=500n'], { input: text, encoding: 'utf8' });

// `npm run docs:man` runs this test with -u, which writes the files.
describe('manual pages (else: npm run docs:man)', () => {
  test.each([...pages.keys()])('%s follows the commands', async (name) => {
    await expect(pages.get(name)!).toMatchFileSnapshot(`../../docs/man/${name}`);
  });

  test('package.json names each, so that npm installs it', async () => {
    const about = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as object;
    const man = [...pages.keys()].toSorted().map((name) => `./docs/man/${name}`);
    const text = await format(JSON.stringify({ ...about, man }), { parser: 'json-stringify' });
    await expect(text).toMatchFileSnapshot('../../package.json');
    expect(about).toMatchObject({ files: expect.arrayContaining(['docs']) as unknown });
  });

  test('no page is left of a command that is gone', () => {
    expect(readdirSync(folder).filter((name) => !pages.has(name))).toEqual([]);
  });

  const files = [...pages.keys()].map((name) => folder + name);

  test('groff has nothing against any of them', { tags: ['groff'] }, () => {
    const { status, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8', ...files], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('mandoc has nothing against any of them', { tags: ['mandoc'] }, () => {
    const lint = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...files], { encoding: 'utf8' });
    // A date would have to be changed with every change of a page.
    const left = lint.stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'));
    expect(lint.error).toBeUndefined();
    expect(left).toEqual([]);
  });

  test('a wrong page would be seen', { tags: ['groff'] }, () => {
    const groff = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8'], {
      input: '.TH A 1\n.nonsense\n',
      encoding: 'utf8',
    });
    expect(groff.stderr).toContain('nonsense');
  });

  test('say what --help says', { tags: ['groff'] }, () => {
    const text = rendered(pages.get('kbuild-up.1')!);
    for (const part of ['kbuild-up - Build or change', '--hosts <names>', "kbuild up --hosts 'w*'", '--dead <names>'])
      expect(text).toContain(part);
  });

  test.each(['.SH NO', "'quoted'", '\\fBbold', 'a\n.SH b', '--flag', '"x"', '`y`', 'back\\slash'])(
    '%j stands in a page as it is',
    { tags: ['groff'] },
    (text) => {
      expect(rendered(`.TH A 1\n.SH B\n${roffText(text)}\n`)).toContain(text.replaceAll('\n', ' '));
    },
  );
});

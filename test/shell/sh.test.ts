import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sh, quote, type Word } from '../../src/shell/sh.ts';
import { pathOf, type ProgramName } from '../needs/table.ts';
import { anyCharacter } from '../tools/any-character.ts';

const SHELLS: readonly (readonly ['sh' | ProgramName, ...string[]])[] = [
  ['sh'],
  ['dash'],
  ['bash', '--posix'],
  ['bash'],
  ['busybox', 'sh'],
];

/** Any text but NUL, with everything that is special to some shell more often than chance has it. */
const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        ...Array.from('\'"\\$`!*?[]{}()<>|&;#~=%^ \t\n\r-'),
        '$(touch canary)',
        '`id`',
        "'; exit 1; '",
        '$IFS',
        '\\\n',
        '--',
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

/** The words as the shell saw them. */
function seen(shell: string, arguments_: readonly string[], words: readonly string[]): readonly string[] {
  const { script } = sh`set -u; for word in ${words}; do printf '%s\\0' "$word"; done`;
  const { stdout, status } = spawnSync(shell, [...arguments_, '-s'], { input: script });
  expect(status).toBe(0);
  return stdout.toString('utf8').split('\0').slice(0, -1);
}

for (const [shell, ...flags] of SHELLS)
  test(
    `every word arrives as it was in ${[shell, ...flags].join(' ')}`,
    { tags: shell === 'sh' ? [] : [shell] },
    () => {
      const program = shell === 'sh' ? '/bin/sh' : pathOf(shell);
      fc.assert(
        // Many words for each shell: starting one costs more than all that it does with them.
        fc.property(fc.array(nasty, { minLength: 1, maxLength: 400, size: 'max' }), (words) => {
          expect(seen(program, flags, words)).toEqual(words);
        }),
        { numRuns: 4 },
      );
    },
  );

test('a word that needs no quotes has none', () => {
  expect(sh`systemctl restart ${'containerd.service'}`.script).toBe('systemctl restart containerd.service');
});

test('a list becomes several words, an empty word stays one', () => {
  expect(sh`apt-get install ${['a b', '', 3]}`.script).toBe(`apt-get install 'a b' '' 3`);
});

test('NUL cannot be said in a shell', () => {
  expect(() => quote('a\0b')).toThrow(TypeError);
});

const inside = (strings: readonly string[], ...values: readonly Word[]) =>
  sh(Object.assign([...strings], { raw: strings }), ...values);

test.each([
  ['double quotes', ['echo "', '"']],
  ['single quotes', ["echo '", "'"]],
  ['quotes after an escaped quote', ['echo \\" "', '"']],
  ['quotes opened in an earlier part', ['echo "', ' and ', '"']],
  ['a here-document', ['cat <<EOF\n', '\nEOF']],
  ['a quoted here-document', ["cat <<-'EOF'\n", '\nEOF']],
] as const)('no interpolation inside %s', (_, strings) => {
  expect(() => inside(strings, ...strings.slice(1).map(() => 'x'))).toThrow(TypeError);
});

test('an interpolation between quotes is fine', () => {
  expect(inside([`echo "a" 'b' \\' `, ' "c"'], 'x y').script).toBe(`echo "a" 'b' \\' 'x y' "c"`);
});

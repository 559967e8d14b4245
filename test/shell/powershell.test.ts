import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodePayload,
  encodedCommand,
  encodePayload,
  hasBegun,
  MAX_COMMAND_LINE,
  psCommand,
  readableErrors,
  resultsIn,
} from '../../src/shell/powershell.ts';
import { Secret } from '../../src/shell/secret.ts';
import { powershell, windowsBootstrap } from '../../src/templates.ts';
import { anyCharacter } from '../tools/any-character.ts';

/** Any text that may be sent: well-formed, without NUL; with what PowerShell reads as quotes. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('‘', '’', '‚', '‛', '“', '”', '$(x)', '`', "'", '"', '\r\n', '😀'),
    ),
  )
  .map((parts) => parts.join(''))
  .filter((one) => !one.includes('\0') && !/\p{Surrogate}/u.test(one));

const encodedPart = (line: string): string => /-EncodedCommand (\S*)$/.exec(line)![1]!;

describe('the command line', () => {
  test('is UTF-16LE in base64, of characters that no shell touches', () => {
    fc.assert(
      fc.property(
        text.filter((one) => one.length < 2000),
        (script) => {
          const line = encodedCommand(script);
          expect(line).toMatch(/^[A-Za-z0-9+/=. -]+$/);
          expect(Buffer.from(encodedPart(line), 'base64').toString('utf16le')).toBe(script);
        },
      ),
    );
  });

  test('of the bootstrap fits cmd.exe', () => {
    expect(encodedCommand(windowsBootstrap()).length).toBeLessThan(8191);
    expect(windowsBootstrap()).not.toContain('#');
  });

  test('that would not fit, or not arrive as it is, is refused', () => {
    const most = Math.floor((MAX_COMMAND_LINE - 200) / 8) * 3;
    expect(encodedCommand('x'.repeat(most)).length).toBeLessThanOrEqual(MAX_COMMAND_LINE);
    expect(() => encodedCommand('x'.repeat(3100))).toThrow('a command line of');
    expect(() => encodedCommand('a\0b')).toThrow('NUL');
    expect(() => encodedCommand('a\uD800')).toThrow('well-formed');
  });
});

describe('the payload', () => {
  test('brings every value as it is, as one line of ASCII', () => {
    const value = fc.oneof(
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(text),
      fc.record({ name: text }),
    );
    fc.assert(
      fc.property(text, fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), value), (script, params) => {
        const line = encodePayload({ common: '', script, name: 'windows/x.ps1', params });
        expect(line).toMatch(/^[A-Za-z0-9+/=]+\.\n$/);
        expect(decodePayload(line)).toEqual({ common: '', script, name: 'windows/x.ps1', params });
      }),
    );
  });

  test.each([
    ['NUL', { Path: 'a\0b' }, 'windows/x.ps1.Path has a NUL'],
    ['half a surrogate pair, deep inside', { List: [{ text: '\uDC00' }] }, 'List.0.text is no well-formed'],
    ['two keys that differ in case', { Map: { a: 1, A: 2 } }, 'keys that PowerShell cannot tell apart'],
    ['what is no number', { Count: Number.NaN }, 'Count is no number'],
  ])('refuses %s', (_, params, message) => {
    expect(() => encodePayload({ common: '', script: '', name: 'windows/x.ps1', params })).toThrow(message);
  });

  test('has secrets among its parameters, and its title has none', () => {
    const command = psCommand(
      { common: '', script: '', name: 'windows/x.ps1', params: { A: 1 } },
      { Token: Secret.of('canary') },
    );
    expect(decodePayload(command.script).params).toEqual({ A: 1, Token: 'canary' });
    expect(command.title).not.toContain('canary');
  });

  test('of a template brings the functions that all scripts may use', () => {
    const { common, script, name } = decodePayload(powershell('windows/uptime.ps1').script);
    expect(name).toBe('windows/uptime.ps1');
    expect(common).toContain('function Write-Result');
    expect(script).toContain('Get-UptimeMilliseconds');
  });
});

describe('what comes back', () => {
  const line = (value: unknown): string => `KBUILD-RESULT:${Buffer.from(JSON.stringify(value)).toString('base64')}`;

  test('is found between noise, with either line end', () => {
    expect(resultsIn(`profile loaded\r\n${line({ a: '“' })}\r\nmore\n${line(2)}\n`)).toEqual(['{"a":"“"}', '2']);
    expect(resultsIn(`say ${line(1)}\n`)).toEqual([]);
  });

  test('tells whether the script began', () => {
    expect(hasBegun('noise\r\nKBUILD-BEGUN\r\n')).toBe(true);
    expect(hasBegun('KBUILD-BEGUNX')).toBe(false);
  });

  test('of errors is plain: no XML, no escapes, no carriage returns', () => {
    const xml =
      '#< CLIXML\r\n<Objs Version="1.1.0.1"><Obj S="progress"></Obj><S S="Error">It &lt;failed&gt;_x000D__x000A_</S></Objs>';
    expect(readableErrors(xml)).toBe('It <failed>\n');
    expect(readableErrors('KBUILD-ERROR: no such path\r\nKBUILD-AT: windows/x.ps1:3:1: Get-Item\r\n')).toBe(
      'no such path\n  AT: windows/x.ps1:3:1: Get-Item\n',
    );
  });
});

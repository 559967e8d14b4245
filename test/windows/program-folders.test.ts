import { describe, expect, test } from 'vitest';
import { writersOf } from '../../src/windows/files.facts.ts';
import { scriptText } from './grammar.ts';

const ADMINISTRATORS = '(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)';

describe('who can change the programs of a folder', () => {
  test.each([
    ['a folder that kbuild protected', `O:BAG:SYD:PAI${ADMINISTRATORS}(A;OICI;0x1200a9;;;BU)`, []],
    [
      'a folder that an administrator made in C:\\',
      `O:BAG:SYD:AI${ADMINISTRATORS}(A;OICIID;0x1200a9;;;BU)(A;CIID;LC;;;BU)(A;CIID;DC;;;BU)(A;OICIIOID;GA;;;CO)`,
      ['every user', 'who makes a file there'],
    ],
    ['a folder of another account', `O:S-1-5-21-1-2-3-1001G:SYD:P${ADMINISTRATORS}`, ['S-1-5-21-1-2-3-1001']],
    ['a right to change the rules', `O:SYD:P(A;;0x40000;;;S-1-5-21-1-2-3-1001)`, ['S-1-5-21-1-2-3-1001']],
    ['a right to delete what is in it', `O:SYD:P(A;;DT;;;WD)`, ['Everyone']],
    ['a rule that denies', `O:SYD:P(D;;FA;;;WD)${ADMINISTRATORS}`, []],
    [
      'a folder of Windows',
      `O:S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464D:${ADMINISTRATORS}(A;OICI;FRFX;;;BU)`,
      [],
    ],
  ])('%s', (_, sddl, writers) => expect(writersOf(sddl)).toEqual(writers));
});

describe('the access rules of a folder of programs', () => {
  const functions = scriptText('common.ps1').split(/^(?=function )/m);
  const body = functions.find((text) => text.startsWith('function Protect-ProgramFolder '))!;

  test('are set also if the folder is there already, after its owner and those of the folders above were verified', () => {
    expect(body).toMatch(/while \(\$folder\.Length -gt 3\) \{\s+Confirm-AdministratorOwner -Path \$folder/);
    expect(body.indexOf('Confirm-AdministratorOwner')).toBeLessThan(body.indexOf('icacls.exe'));
    expect(body).toMatch(/\n {4}Invoke-Native -Exe 'icacls\.exe' -Arguments @\(\$Path, '\/inheritance:r'/);
    expect(body).not.toMatch(/\breturn\b/);
  });

  test('give users the right to read, and no other account any right', () => {
    expect(body).toContain("'*S-1-5-32-545:(OI)(CI)RX'");
    expect(body).toMatch(/Get-AllowedSids[\s\S]*'\/remove'[\s\S]*Get-AllowedSids[\s\S]*throw/);
  });
});

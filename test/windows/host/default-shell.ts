import { withoutComments } from '../../../src/shell/powershell.ts';
import { scriptFile } from '../../../src/templates.ts';
import type { Machine } from './machine.ts';

/** HKLM\SOFTWARE\OpenSSH\DefaultShell. */
export type DefaultShell = 'cmd' | 'powershell' | 'pwsh';

/** What the shell made of a command line: kbuild's bootstrap, or words of its own. */
export type Invocation =
  | { readonly bootstrap: true }
  | { readonly refused: string; readonly stdout: string; readonly status: number; readonly violation?: string };

const MAX_LINE = 8191;

const refused = (text: string, status: number, stdout = ''): Invocation => ({ refused: text, stdout, status });

const unknown: Readonly<Record<DefaultShell, (word: string) => string>> = {
  cmd: (word) =>
    `'${word}' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n`,
  powershell: (word) =>
    `#< CLIXML\r\n<Objs Version="1.1.0.1" xmlns="http://schemas.microsoft.com/powershell/2004/04"><S S="Error">${word} : The term '${word}' is not recognized as the name of a cmdlet, function, script file, or operable program._x000D__x000A_</S></Objs>`,
  pwsh: (word) =>
    `${word}: The term '${word}' is not recognized as a name of a cmdlet, function, script file, or executable program.\r\n`,
};

/** What sshd.exe and the default shell do with a command line. */
export function invocation(machine: Machine, shell: DefaultShell, command: string): Invocation {
  if (command.length >= MAX_LINE) return refused('The command line is too long.\r\n', 1);
  const encoded =
    /^powershell\.exe -NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -OutputFormat Text -EncodedCommand ([A-Za-z0-9+/=]+)$/.exec(
      command,
    )?.[1];
  if (encoded === undefined) return refused(unknown[shell](command.split(' ')[0]!), 1);
  if (machine.languageMode !== 'FullLanguage') return refused('', 87, `KBUILD-MODE: ${machine.languageMode}\r\n`);
  const text = Buffer.from(encoded, 'base64').toString('utf16le');
  if (text !== withoutComments(scriptFile('windows/bootstrap.ps1')))
    return { ...refused('', 1), violation: 'the bootstrap is another one' };
  return { bootstrap: true };
}

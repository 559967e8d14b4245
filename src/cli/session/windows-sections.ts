import type { WindowsRemote } from '../../remote/windows/windows-remote.ts';
import { powershell } from '../../templates.ts';
import type { Section } from '../../windows/support-sections.ts';

/** Logs and states of a Windows host: sections that begin with `== `, each with the error of what it could not read. */
export async function gathered(remote: WindowsRemote, sections: readonly Section[], title: string): Promise<string> {
  const answer = await remote.ask({ ...powershell('windows/gather.ps1', { Sections: sections }), title });
  const texts = JSON.parse(answer) as readonly { readonly title: string; readonly text: string }[];
  return texts.map(({ title: head, text }) => `== ${head}\n${text.replaceAll('\r', '').trimEnd()}\n`).join('');
}

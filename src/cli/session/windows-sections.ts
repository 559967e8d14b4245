import type { WindowsRemote } from '../../remote/windows/windows-remote.ts';
import { powershell } from '../../templates.ts';
import type { Section } from '../../windows/support-sections.ts';

/** What a Windows host says about itself: sections that begin with `== `, each with what it could not show. */
export async function gathered(remote: WindowsRemote, sections: readonly Section[], title: string): Promise<string> {
  const said = await remote.ask({ ...powershell('windows/gather.ps1', { Sections: sections }), title });
  const texts = JSON.parse(said) as readonly { readonly title: string; readonly text: string }[];
  return texts.map(({ title: head, text }) => `== ${head}\n${text.replaceAll('\r', '').trimEnd()}\n`).join('');
}

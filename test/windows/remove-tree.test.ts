import { expect, test } from 'vitest';
import { scriptText } from './grammar.ts';

test.each(['remove-paths.ps1', 'kubeadm.ps1'])('%s does not delete through a link or a mount', (name) => {
  const text = scriptText(name);
  expect(text).toContain('Remove-Tree -Path $path');
  // Remove-Item -Recurse of Windows PowerShell may follow a link and delete its target.
  expect(text).not.toMatch(/Remove-Item[^\n]*-Recurse/);
});

/** What an operator is told who stops an upgrade after its first worker. `hosts`: the workers that are left; `version`: the desired one. */
export const pausedText = (hosts: readonly string[], version: string): string =>
  [
    `stopped after the first worker; still with an older kubelet: ${hosts.join(', ')}. Pods stay there; new ones prefer upgraded workers`,
    `  → \`kbuild upgrade\` with the same inventory goes on to ${version}; until then \`kbuild up\` changes no kubelet`,
    '',
  ].join('\n');

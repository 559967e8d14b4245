import { expect, test } from 'vitest';
import { pausedText } from '../../src/commands/upgrade.ts';

test('an upgrade that is stopped after its first worker names the workers that are left, and the command that goes on', () => {
  expect(pausedText(['w2', 'w3'], '1.37.1')).toBe(
    `stopped after the first worker; still with an older kubelet: w2, w3. Pods stay there; new ones prefer upgraded workers
  → \`kbuild upgrade\` with the same inventory goes on to 1.37.1; until then \`kbuild up\` changes no kubelet
`,
  );
});

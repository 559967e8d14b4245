import { expect, test } from 'vitest';
import { windowsTroubleshooting } from './windows-troubleshooting.ts';

// `npm run docs:windows` runs this test with -u, which writes the file.
test('docs/windows-troubleshooting.md follows the signatures (else: npm run docs:windows)', async () => {
  await expect(windowsTroubleshooting()).toMatchFileSnapshot('../../docs/windows-troubleshooting.md');
});

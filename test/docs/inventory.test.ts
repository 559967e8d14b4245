import { expect, test } from 'vitest';
import { inventoryReference } from './inventory.ts';

// `npm run docs:inventory` runs this test with -u, which writes the file.
test('docs/inventory.md follows the schema (else: npm run docs:inventory)', async () => {
  await expect(inventoryReference()).toMatchFileSnapshot('../../docs/inventory.md');
});

import { expect, test } from 'vitest';
import { exampleNames, phaseList } from '../tools/phase-list.ts';

test.each(exampleNames)('every command has these phases and steps for the inventory %s', async (name) => {
  await expect(await phaseList(name)).toMatchFileSnapshot(`../golden/phases/${name}.txt`);
});

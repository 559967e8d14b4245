import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { everywhere } from '../options.ts';

export const schema = declare({
  name: 'schema',
  summary: 'Print the JSON Schema of the inventory, or of a JSON document of kbuild',
  details:
    'Editors complete an inventory by it: see [Editors](#editors). The schemas of documents are in [schemas/](schemas).',
  onHosts: 'nothing',
  operand: inventoryOperand,
  options: [
    ...everywhere,
    option('--draft <draft>', {
      summary: 'the dialect of JSON Schema: 2020-12 (default), or 7 for older editors',
      completes: ['2020-12', '7'],
    }),
    option('--document <name>', {
      summary: 'the schema of a document that a command prints with --json, e.g. status',
      completes: 'documents',
    }),
  ],
  examples: [
    'kbuild schema > inventory.schema.json',
    'kbuild schema --draft 7 > inventory.schema.json',
    'kbuild schema --document status',
  ],
});

/** The values of its options. */
export type SchemaOptions = OptionsOf<typeof schema>;

import { UsageError } from '../errors.ts';
import { editorJsonSchema } from '../inventory/schema/editor.ts';
import { documentJsonSchema, DOCUMENTS } from '../report/documents/documents.ts';
import type { DocumentName } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { nearest } from '../shell/text.ts';
import type { SchemaOptions } from './inventory.command.ts';

const DRAFTS = ['2020-12', '7'] as const;

/** @throws UsageError for a name that no document has */
function documentNamed(name: string): DocumentName {
  if (Object.hasOwn(DOCUMENTS, name)) return name as DocumentName;
  const names = Object.keys(DOCUMENTS);
  const close = nearest(name, names);
  throw new UsageError(`"${name}" is no document${close === undefined ? '' : `; did you mean "${close}"?`}`, {
    remedy: `without a name it is the schema of inventories; documents are ${names.join(', ')}`,
  });
}

/**
 * `kbuild schema`: the JSON Schema of the inventory, for editors, or of a document that kbuild prints. @throws
 * UsageError for an unknown document or draft
 */
export function runSchema(context: Context, flags: SchemaOptions, [named]: readonly string[] = []): Promise<number> {
  const document = flags.document ?? named;
  const draft = DRAFTS.find((one) => one === (flags.draft ?? DRAFTS[0]));
  if (draft === undefined)
    throw new UsageError(`kbuild writes JSON Schema ${DRAFTS.join(' or ')}, not "${flags.draft!}"`);
  const schema = document === undefined ? editorJsonSchema(draft) : documentJsonSchema(documentNamed(document), draft);
  context.out(`${JSON.stringify(schema, undefined, 2)}\n`);
  return Promise.resolve(0);
}

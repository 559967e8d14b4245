import * as z from 'zod';
import { document, flag, listOf, oneOf, text, texts } from './fields.ts';

const named = z.object({ name: text('Its name.'), summary: text('What it is.') });

/** `kbuild explain TOPIC --json` */
export const explain = document('What `kbuild explain TOPIC --json` prints. Texts are Markdown.', {
  kind: oneOf(['setting', 'check', 'exit'], 'What it explains.'),
  name: text('`network.podSubnet`, `clock-skew`, `7`.'),
  title: text('What it is, in one line; empty where `why` says all.'),
  why: text('What it is for, or why it exists.'),
  remedy: text('What to do about it.').exactOptional(),
  type: text('What a setting takes.').exactOptional(),
  required: flag('True for a setting that must be there.').exactOptional(),
  default: z.unknown().optional().meta({ description: 'The default of a setting; missing if it has none.' }),
  values: listOf(
    z.object({ value: text('A value.'), note: text('What is to know about it; may be empty.') }),
    'The only values that a setting takes.',
  ).exactOptional(),
  example: text('A piece of an inventory, or a command line.').exactOptional(),
  inside: listOf(named, 'Settings in it.').exactOptional(),
  more: texts('Pages of the documentation.'),
});

/** `kbuild explain --json` */
export const topics = document('What `kbuild explain --json` prints without a name.', {
  topics: listOf(
    z.object({ title: text('What the list holds.'), items: listOf(named, 'What can be explained.') }),
    'What can be explained.',
  ),
});

import * as z from 'zod';

/** Text with its meaning, as a JSON Schema shows it. */
export const text = (description: string) => z.string().meta({ description });

/** A list of texts. */
export const texts = (description: string) => z.array(z.string()).meta({ description });

/** A number; `description` names its unit. */
export const number = (description: string) => z.number().meta({ description });

/** True or false; `description` says when it is true. */
export const flag = (description: string) => z.boolean().meta({ description });

/** One of some words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  z.enum(words).meta({ description });

/** A list of mappings. */
export const listOf = <Item extends z.ZodType>(item: Item, description: string) => z.array(item).meta({ description });

/** A JSON document. Its version comes first. */
export const document = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z
    .object({
      schemaVersion: z.literal(1).meta({ description: 'Raised when a field changes its meaning or goes away.' }),
      ...shape,
    })
    .meta({ description });

export const cluster = text("The cluster's name in the inventory.");

/** A change of a plan. */
export const change = z.object({
  phase: text('The phase that makes it.'),
  host: text('The host that it is about.'),
  step: text('The step that found it.'),
  summary: text('What is done, and what was found.'),
});

/** The restarts of a plan. */
const restart = z.object({
  what: text('What is away meanwhile.'),
  hosts: texts('Where.'),
  atOnce: number('How many hosts at once.'),
  aboutMs: number('About how long it is away on each host, in ms.'),
  pauseMs: number('The pause between two batches of workers, in ms. Missing where there is none.').exactOptional(),
});

export const changes = listOf(change, 'What would change, in the order of the phases.');
export const restarts = listOf(restart, 'What the changes restart.');

/** A finding of a check. */
export const finding = z.object({
  severity: oneOf(['error', 'warning', 'unknown', 'due'], '`error` and `unknown` stop `up`; `up` mends what is `due`.'),
  host: text('Missing where it is about all hosts.').exactOptional(),
  message: text('What was found and what is needed.'),
  remedy: text('What to do.').exactOptional(),
  check: text("The check's name, which `--ignore-check` takes."),
  page: text('Where it is explained.'),
  ignored: z.literal(true).meta({ description: 'The inventory or `--ignore-check` names its check.' }).exactOptional(),
});

/** A change that waits for a host. */
export const waitingChange = z.object({
  host: text('The host that the change is about.'),
  summary: text('What would be done.'),
});

import * as z from 'zod';
import { absolutePath, line, localPath, secretReference, text } from './formats.ts';

/** `files:` */
export const files = z
  .array(
    z.strictObject({
      hosts: z.union([line(), z.array(line()).min(1)]).meta({
        examples: ['worker'],
        description: 'Who gets it: "all", a role, a group, a name, a pattern with "*", or a list of these.',
      }),
      source: localPath().exactOptional().meta({ description: 'A text file on this machine, next to the inventory.' }),
      content: z
        .string()
        .exactOptional()
        .meta({ examples: ['Managed by kbuild.\n'], description: 'The content itself, instead of source.' }),
      secret: secretReference().exactOptional().meta({
        description: 'Content that no log may show: env:NAME, file:PATH or command:COMMAND, instead of source.',
      }),
      path: absolutePath().meta({ description: 'Absolute path on the host.' }),
      mode: text(/^0[0-7]{3}$/, 'four octal digits in quotes, e.g. "0644"')
        .exactOptional()
        .meta({ description: 'Permissions. Default: "0644", of a secret "0600".' }),
    }),
  )
  .default([])
  .meta({ description: 'Files that `up` puts on hosts before anything is installed.' });

import * as z from 'zod';
import { line, text } from './formats.ts';

const command = () =>
  z
    .string()
    .min(1)
    .meta({
      examples: ['./pager.sh "$KBUILD_ACTION $KBUILD_HOST"'],
      description: 'What /bin/sh runs. KBUILD_HOST, KBUILD_ROLE, KBUILD_ACTION and others say what for.',
    });

const timeout = () =>
  text(/^[1-9]\d{0,4}[smh]$/, 'seconds, minutes or hours, e.g. "90s" or "5m"')
    .default('5m')
    .meta({ description: 'How long it may take. A command that takes longer is ended and has failed.' });

/** Hooks about a host. */
const aboutHosts = (description: string) =>
  z
    .array(
      z.strictObject({
        command: command(),
        on: z.enum(['operator', 'host']).default('operator').meta({
          description:
            'operator: on the machine on which kbuild runs. host: on the host itself, as root; Linux hosts only.',
        }),
        hosts: z
          .union([line(), z.array(line()).min(1)])
          .default('all')
          .meta({
            examples: ['worker'],
            description: 'For which hosts: "all", a role, a group, a name, a pattern with "*", or a list of these.',
          }),
        timeout: timeout(),
      }),
    )
    .default([])
    .meta({ description });

/** `hooks:` */
export const hooks = z
  .strictObject({
    beforeChange: aboutHosts(
      'Before the first change that a run makes on a host. If one fails, the run leaves the host as it is.',
    ),
    beforeDrain: aboutHosts(
      'Before a node is cordoned and drained. If one fails, the node is not drained, and nothing is done for which it had to be.',
    ),
    afterUncordon: aboutHosts(
      'After a node takes pods again. If one fails, the host counts as failed, and the next run calls it again.',
    ),
    afterRun: z
      .array(z.strictObject({ command: command(), timeout: timeout() }))
      .default([])
      .meta({
        description:
          'On this machine after a run that had something to do, also after one that failed: KBUILD_EXIT is its exit code. If one fails, the run says so and keeps its exit code.',
      }),
  })
  .prefault({})
  .meta({ description: 'Your own commands around what kbuild does, e.g. for a load balancer, storage or alerts.' });

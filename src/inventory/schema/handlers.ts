import * as z from 'zod';
import { HANDLER_KINDS } from '../../model/runtime-handlers.ts';
import { absolutePath, text } from './formats.ts';

const quantity = () => text(/^[1-9]\d*(?:m|Ki|Mi|Gi)?$/, 'a quantity of Kubernetes, e.g. "320Mi"');

const handler = z.strictObject({
  kind: z
    .enum(HANDLER_KINDS)
    .exactOptional()
    .meta({
      examples: ['kata'],
      description:
        'What runs the containers: crun; kata (Kata Containers); nvidia (the NVIDIA Container Toolkit); runsc (gVisor). Default: the name of the handler.',
    }),
  path: absolutePath().exactOptional().meta({
    description:
      'Program on the host: crun, the shim of Kata Containers, nvidia-container-runtime, or runsc with its shim beside it. You put it there. Default: runsc and nvidia come as packages of their projects; crun and kata need a path.',
  }),
  config: absolutePath()
    .exactOptional()
    .meta({
      examples: ['/opt/kata/share/defaults/kata-containers/configuration-qemu.toml'],
      description: 'kata: its configuration on the host. Default: the one that it finds itself.',
    }),
  overhead: z
    .strictObject({
      cpu: quantity()
        .exactOptional()
        .meta({ examples: ['250m'], description: 'Processor time.' }),
      memory: quantity().exactOptional().meta({ description: 'Memory.' }),
    })
    .default({})
    .meta({
      description:
        'What a pod takes beside its containers, e.g. for its virtual machine: overhead of the RuntimeClass.',
    }),
});

/** `handlers:` of a runtime. */
export const handlers = z
  .record(
    text(
      /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
      'a name of at most 40 lower-case letters, digits and hyphens, e.g. "crun"',
    ),
    handler,
  )
  .default({})
  .meta({
    examples: [{ crun: { path: '/usr/bin/crun' } }],
    description:
      'Further ways to start containers: the name of a handler and of its RuntimeClass, and below it what runs it. Those of all levels together; the nearest describes a handler. Pods that name the RuntimeClass run on hosts that have the handler. All other pods run as before.',
  });

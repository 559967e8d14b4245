import * as z from 'zod';
import { containerd } from '../../runtime/containerd.value.ts';
import { docker } from '../../runtime/docker.value.ts';
import { HANDLER_KINDS } from '../runtime-handlers.ts';
import { runtimeRepository } from './downloads.ts';
import { absolutePath, freeObject, line, localPath, secretReference, text, url, version } from './formats.ts';

const quantity = () => text(/^[1-9]\d*(?:m|Ki|Mi|Gi)?$/, 'a quantity of Kubernetes, e.g. "320Mi"');

const handler = z.strictObject({
  kind: z
    .enum(HANDLER_KINDS)
    .exactOptional()
    .meta({
      examples: ['kata'],
      description:
        'What runs the containers: crun; kata (Kata Containers); nvidia (the NVIDIA Container Toolkit); runsc ' +
        '(gVisor). Default: the name of the handler.',
    }),
  path: absolutePath()
    .exactOptional()
    .meta({
      description:
        'Program on the host: crun, the shim of Kata Containers, nvidia-container-runtime, or runsc with its shim ' +
        'beside it. You put it there. Default: runsc and nvidia come as packages of their projects; crun and kata ' +
        'need a path.',
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
const handlers = z
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
      'Further ways to start containers: the name of a handler and of its RuntimeClass, and below it what runs ' +
      'it. Those of all levels together; the nearest describes a handler. Pods that name the RuntimeClass run on ' +
      'hosts that have the handler. All other pods run as before.',
  });

const registry = z.strictObject({
  host: text(
    /^(?:_default|[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?)$/,
    'a registry as in image names, or "_default"',
  ).meta({
    examples: ['registry.example.com:5000'],
    description:
      'Registry as it stands in image names, e.g. docker.io or registry.example.com:5000; _default for all others.',
  }),
  mirrors: z
    .array(url())
    .default([])
    .meta({ description: 'Base URLs that are asked first, in this order. With a login: https:// only.' }),
  ca: localPath().exactOptional().meta({ description: 'PEM file with the CA of registry and mirrors.' }),
  username: line()
    .exactOptional()
    .meta({ examples: ['robot'], description: 'Who logs in.' }),
  password: secretReference()
    .exactOptional()
    .meta({ description: 'Password: env:NAME, file:PATH or command:COMMAND.' }),
});

/** A setting whose default is the runtime's; editors and the documentation show that of the default runtime. */
const { package: PACKAGE_DEFAULT } = containerd.defaults;

const PACKAGE = text(/^[a-z0-9][a-z0-9+.-]+$/, 'the name of a Debian package');

const RUNTIMES = z.enum(['containerd', 'crio', 'docker']);

/** What every host can have of its own. */
const ofHost = {
  version: version()
    .exactOptional()
    .meta({
      description:
        'Exact version in quotes. If you edit it, `up` changes joined hosts one at a time, drained unless only the ' +
        'patch differs. Default: of the newest line that the runtime supports with the Kubernetes minor, on new ' +
        'hosts; joined hosts follow by `upgrade`.',
    }),
  package: PACKAGE.exactOptional().meta({ default: PACKAGE_DEFAULT, description: 'Name of the package.' }),
  repository: runtimeRepository,
  config: freeObject()
    .default({})
    .meta({
      examples: [{ metrics: { address: '127.0.0.1:1338' } }],
      description: `Merged into ${containerd.paths.config}, into the drop-in of CRI-O, or into ${docker.shared!.path}.`,
    }),
  selinux: z
    .boolean()
    .exactOptional()
    .meta({
      description:
        'True: SELinux confines containers, on hosts that have it. Default: false; the runtime labels nothing, and ' +
        'containers run unconfined.',
    }),
  handlers,
};

/** `runtime:` of a role, a group or a host. */
export const runtimeOfNode = z
  .strictObject({
    name: RUNTIMES.exactOptional().meta({
      description: 'Container runtime. If it is another than that of farther levels, nothing else of theirs applies.',
    }),
    ...ofHost,
  })
  .exactOptional()
  .meta({
    description: 'The container runtime, if it is another one here; the nearest wins: host, groups, role, all.',
  });

/** `runtime:` */
export const runtime = z
  .strictObject({
    name: RUNTIMES.default('containerd').meta({
      description: 'Container runtime. Every role, group and host can have another one.',
    }),
    ...ofHost,
    cgroupDriver: z.enum(['systemd', 'cgroupfs']).default('systemd').meta({
      description: 'cgroup driver of runtime and kubelet alike, on all hosts. systemd must be init either way.',
    }),
    registries: z.array(registry).default([]).meta({ description: 'How registries are reached.' }),
  })
  .prefault({})
  .meta({ description: 'The container runtime.' });

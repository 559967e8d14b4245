import * as z from 'zod';
import {
  address,
  freeObject,
  hostKey,
  hostName,
  ipAddresses,
  label,
  line,
  localPath,
  port,
  secretReference,
  text,
} from './formats.ts';
import { runtimeOfNode } from './runtime.ts';
import { installFrom, packages, timeSync, trustedCAs } from './system.ts';
import { windows } from './windows.ts';

const NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const DNS = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*';
const QUALIFIED = new RegExp(`^(?:(?=[^/]{1,253}/)${DNS}/)?${NAME}$`);
const VALUE = new RegExp(`^(?:${NAME})?$`);

const labelKey = () => text(QUALIFIED, 'a label name as Kubernetes allows it: [prefix/]name, e.g. "example.com/disk"');
const labelValue = () =>
  text(VALUE, 'at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends');

/** Name and value of a flag of a Kubernetes component. */
const argument = z.strictObject({
  name: text(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, 'the name of a flag without leading dashes, e.g. "v"').meta({
    description: 'Name of the flag without leading dashes.',
  }),
  value: line().meta({ examples: ['4'], description: 'Its value.' }),
});

const kubelet = z.strictObject({
  config: freeObject()
    .default({})
    .meta({
      examples: [{ maxPods: 200 }],
      description: 'Fields of KubeletConfiguration. Mappings are merged, lists replaced; null takes a field away.',
    }),
  extraArgs: z
    .array(argument)
    .default([])
    .meta({ description: 'Flags of the kubelet that have no field in KubeletConfiguration, merged by name.' }),
});

const labels = z
  .record(labelKey(), labelValue())
  .default({})
  .meta({
    examples: [{ disk: 'ssd' }],
    description: 'Labels of the Node. Taken off again when they are taken out of the inventory.',
  });

const taints = z
  .array(
    z.strictObject({
      key: labelKey().meta({ description: 'Key of the taint.' }),
      value: labelValue()
        .exactOptional()
        .meta({ examples: ['yes'], description: 'Value of the taint.' }),
      effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).meta({ description: 'What it keeps away.' }),
    }),
  )
  .exactOptional()
  .meta({
    examples: [[{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }]],
    description:
      "Taints of the Node. Default: kubeadm's own on a control plane, none on a worker. An empty list means " +
      'none, so that a control plane runs all pods.',
  });

/** `sysctls:` of the inventory, a role, a group or a host. */
export const sysctls = z
  .record(
    text(
      /^[a-z][a-z0-9_-]*(?:\.[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)+$/,
      'the name of a kernel setting with dots, e.g. "vm.max_map_count"',
    ),
    z.union([
      z.number().int(),
      text(
        /^(?!.*(?:^| )(?:\+|-?0[0-9xX]))[^\p{Cc}\s]+(?: [^\p{Cc}\s]+)*$/u,
        'as the kernel shows it: words between single blanks, numbers in decimal digits',
      ),
    ]),
  )
  .default({})
  .meta({
    examples: [{ 'vm.max_map_count': 262_144 }],
    description:
      'Kernel settings of Linux hosts, e.g. vm.max_map_count: 262144; the nearest wins: host, groups, role, all. ' +
      'Those that you take out keep their value until the next boot.',
  });

const loginFields = {
  user: text(/^[A-Za-z_][A-Za-z0-9._-]{0,31}$/, 'a user name')
    .exactOptional()
    .meta({
      examples: ['admin'],
      description: 'Who logs in. Every user but root needs sudo or doas. Default: of ~/.ssh/config, else root.',
    }),
  port: port().exactOptional().meta({ description: 'Port of the SSH server. Default: of ~/.ssh/config, else 22.' }),
  identityFile: z
    .union([localPath(), z.array(localPath()).min(1)])
    .exactOptional()
    .meta({
      description:
        'Private key, or a list; no other key is offered. The agent signs for those that it holds, also when ' +
        "only the .pub file is here. Default: of ~/.ssh/config, else the agent's keys.",
    }),
  knownHostsFile: localPath()
    .exactOptional()
    .meta({
      description:
        'Where host keys are kept. Default: of ~/.ssh/config, else ~/.ssh/known_hosts, and ' +
        '/etc/ssh/ssh_known_hosts for reading.',
    }),
  hostKey: z
    .union([hostKey(), z.array(hostKey()).min(1)])
    .exactOptional()
    .meta({
      description:
        'The only host key that is accepted: "ssh-ed25519 AAAA…" as in a .pub file, or its fingerprint ' +
        '"SHA256:…"; or a list. known_hosts is not read then.',
    }),
};

const jump = () =>
  text(
    /^(?:[A-Za-z_][A-Za-z0-9._-]{0,31}@)?(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,39}\])(?::[1-9]\d{0,4})?$/,
    '[user@]host[:port]',
  );

const bastionEntry = z.union([
  jump(),
  z.strictObject({ address: address().meta({ description: 'Where it is.' }), ...loginFields }),
]);

const sshFields = {
  ...loginFields,
  client: z
    .enum(['built-in', 'openssh'])
    .exactOptional()
    .meta({
      examples: ['openssh'],
      description:
        "built-in: kbuild's own SSH, quickest. openssh: the system's ssh, for what only that can do: host and " +
        'user certificates, `@cert-authority`, security keys, post-quantum key exchange, ProxyCommand. Default: ' +
        'built-in.',
    }),
  passphrase: secretReference().exactOptional().meta({
    description: 'Passphrase of encrypted keys: env:NAME, file:PATH or command:COMMAND. Default: you are asked once.',
  }),
  sudoPassword: secretReference().exactOptional().meta({
    description:
      'Password for sudo, where it wants one: env:NAME, file:PATH or command:COMMAND. Default: you are asked once.',
  }),
  bastion: z
    .union([bastionEntry, z.array(bastionEntry)])
    .exactOptional()
    .meta({
      examples: ['admin@bastion.example.com'],
      description:
        'What connections go through: "[user@]host[:port]", or a mapping of address, user, port, identityFile, ' +
        'knownHostsFile and hostKey (default: those of ssh), or a list of several, one behind the other. [] ' +
        'means none. Default: ProxyJump of ~/.ssh/config.',
    }),
  configFile: localPath().exactOptional().meta({
    description:
      'SSH configuration to read (through "ssh -G") for what is not said here, or none. Default: ~/.ssh/config.',
  }),
};

/** `ssh:` of the inventory or of a host. */
export const ssh = z.strictObject(sshFields).prefault({}).meta({ description: 'How to log in.' });

const nodeFields = {
  kubelet: kubelet.prefault({}).meta({ description: 'kubelet settings; the nearest wins: host, groups, role, all.' }),
  labels,
  taints,
  sysctls,
  installFrom: installFrom.exactOptional(),
  packages: packages(),
  trustedCAs: trustedCAs(),
  timeSync: timeSync.exactOptional(),
  runtime: runtimeOfNode,
};

/** kubelet settings of all nodes. */
export const kubeletOfAll = nodeFields.kubelet;

/** `roles:`: what all hosts of a role share. */
export const roles = z
  .strictObject({
    'control-plane': z.strictObject(nodeFields).prefault({}).meta({ description: 'For all control planes.' }),
    worker: z.strictObject(nodeFields).prefault({}).meta({ description: 'For all workers.' }),
  })
  .prefault({})
  .meta({ description: 'Settings of all hosts of a role.' });

/** `groups:`: what all hosts share that name the group. */
export const groups = z
  .record(label(), z.strictObject(nodeFields))
  .default({})
  .meta({
    description:
      'Settings of hosts that have something in common, e.g. a GPU: the name of a group, and below it the settings ' +
      'that a role can have. Hosts name their groups.',
  });

const host = z.strictObject({
  name: hostName().meta({ description: 'Name of the host and of its Node. Unique.' }),
  address: address().meta({ description: 'Where SSH connects: an IP address or a DNS name.' }),
  internalAddress: ipAddresses().exactOptional().meta({
    description: 'Where Kubernetes listens: an IP address, or one of each family of podSubnet. Default: address.',
  }),
  role: z.enum(['control-plane', 'worker', 'etcd', 'load-balancer']).meta({
    description:
      'What the host is for. etcd: a member of an external etcd (etcd.topology: external). load-balancer: ' +
      'haproxy and keepalived (loadBalancer.kind: keepalived).',
  }),
  groups: z
    .array(label())
    .default([])
    .meta({
      description:
        'Groups of the host. Their settings win over those of the role. If two groups have the same setting, the ' +
        'group that is named later here wins.',
    }),
  os: z
    .enum(['linux', 'windows'])
    .default('linux')
    .meta({ description: 'Operating system. windows: a worker (simulated; never run on Windows hardware).' }),
  ...nodeFields,
  ssh,
  windows,
  setHostname: z
    .boolean()
    .exactOptional()
    .meta({ description: 'True: `up` gives the host its name. Default: setHostname of the inventory.' }),
});

/** `hosts:` */
export const hosts = z.array(host).min(1).meta({ description: 'The machines, in the order in which they are built.' });

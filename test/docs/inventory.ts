import { inventoryJsonSchema } from '../../src/inventory/schema.ts';

interface Setting {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Setting[];
  readonly items?: Setting;
  readonly properties?: Readonly<Record<string, Setting>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Setting | false;
}

const INTRODUCTION = `# The inventory

<!-- Generated from the schema by "npm run docs:inventory"; do not edit. -->

One YAML file lists the hosts and every setting that differs from its default. \`kbuild init\` writes a first inventory.
\`kbuild validate\` reports every mistake with its line. With \`kbuild schema > inventory.schema.json\`, editors complete it:

\`\`\`yaml
# yaml-language-server: $schema=inventory.schema.json
name: prod
kubernetes: { version: "1.36.3", endpoint: "k8s.example.com:6443" }
hosts:
  - { name: cp1, address: 203.0.113.11, internalAddress: 10.0.0.11, role: control-plane }
  - { name: w1, address: 203.0.113.21, internalAddress: 10.0.0.21, role: worker, labels: { disk: ssd } }
\`\`\`

- **Put versions, and all text that looks like a number, in quotes**: YAML reads \`1.30\` as 1.3.
- **Files** are relative to the inventory's folder; \`~\` is your home folder.
- **Secrets** are never in this file. Write where the secret is: \`env:NAME\` (an environment variable), \`file:PATH\`, or
  \`command:COMMAND\` (the output of the command). \`kbuild validate\` runs no command and fetches no URL.
- **Settings of a node** can be set for all hosts (\`kubelet\`, \`sysctls\`), for a role (\`roles\`), for a group (\`groups\`) and for one host.
  The nearest value wins: the host's over that of its groups, that over the role's, and the role's over that for all hosts. Of
  two groups, the one that is named later in \`hosts[].groups\` wins. Mappings are merged, lists are replaced, \`extraArgs\` are
  merged by name, and \`null\` removes a field.
- **Groups** stand wherever hosts are selected: \`groups: { gpu: { labels: { gpu: "yes" } } }\` and \`groups: [gpu]\` at a host, then
  \`files: [{ hosts: gpu, … }]\`, and \`kbuild up --hosts gpu\`.
- **Kernel settings** (\`sysctls\`) that a host needs beside those of Kubernetes: \`sysctls: { vm.max_map_count: 262144 }\`. kbuild refuses
  values that break Services (\`net.ipv4.ip_forward: 0\`) or that the kubelet sets itself (\`kernel.panic\`). Windows hosts get none.
- **Overrides of kubeadm's configuration** (\`kubeadm\`, \`kubelet.config\`, \`runtime.config\`) take any field, except the fields
  that have a setting in the inventory: kbuild refuses those and names the setting.
- kbuild refuses anchors, aliases and tags of YAML, and every setting that it does not know.
`;

const HEAD = '| setting | value | default | meaning |\n| --- | --- | --- | --- |\n';

const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function kind(setting: Setting): string {
  if (setting.const !== undefined) return code(setting.const);
  if (setting.enum !== undefined) return setting.enum.map(code).join(', ');
  if (setting.anyOf !== undefined) return setting.anyOf.map(kind).join(' or ');
  if (setting.type === 'array') return setting.items?.properties === undefined ? 'list of text' : 'list of mappings';
  if (setting.type === 'object') return 'mapping';
  if (setting.type === 'boolean') return '`true`, `false`';
  if (setting.type === 'integer') return `${setting.minimum ?? ''}–${setting.maximum ?? ''}`;
  return 'text';
}

const fallback = (setting: Setting, required: string): string => {
  if (setting.default === undefined) return required;
  const shown = JSON.stringify(setting.default);
  return shown === '{}' && setting.properties !== undefined ? '' : code(shown);
};

/** Rows of a setting and everything in it. */
function rows(path: string, setting: Setting, required: string): readonly string[] {
  const own = `| ${code(path)} | ${cell(kind(setting))} | ${cell(fallback(setting, required))} | ${cell(setting.description ?? '')} |`;
  const list = setting.type === 'array';
  const named = setting.additionalProperties || undefined;
  const isNamed = named?.properties !== undefined;
  const inner = list
    ? setting.items
    : (setting.anyOf?.find(({ properties }) => properties !== undefined) ?? (isNamed ? named : setting));
  const inside = Object.entries(inner?.properties ?? {}).flatMap(([name, child]) =>
    rows(
      `${path}${list ? '[]' : isNamed ? '.NAME' : ''}.${name}`,
      child,
      inner?.required?.includes(name) === true ? '**required**' : '',
    ),
  );
  return [own, ...inside];
}

/** The reference of all settings as Markdown: docs/inventory.md. */
export function inventoryReference(): string {
  const { properties, required } = inventoryJsonSchema() as Setting;
  const sections = Object.entries(properties ?? {}).map(([name, setting]) => {
    const table = rows(name, setting, required?.includes(name) === true ? '**required**' : '').join('\n');
    return `## ${name}\n\n${HEAD}${table}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

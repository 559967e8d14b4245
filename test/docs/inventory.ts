import { inventorySettings, type Setting, withInner } from '../../src/inventory/file/settings.ts';

const INTRODUCTION = `# The inventory

<!-- Generated from the schema by "npm run docs:inventory"; do not edit. -->

One YAML file lists the hosts and every setting that differs from its default. \`kbuild init\` asks for what it needs, or takes \`--hosts\`, and writes a first inventory.
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
- **From a program**: \`-\` instead of a file reads the inventory from standard input, e.g. \`terraform output -raw inventory | kbuild validate -\`. Files are
  then relative to the folder in which you are, and confirmations need \`--yes\`, because standard input is taken. JSON is YAML too, so any program that prints one of
  them is a dynamic inventory: \`./hosts.sh | kbuild plan -\`. What a program prints half is refused whole.
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

const fallback = (setting: Setting): string => {
  if (setting.default === undefined) return setting.isRequired ? '**required**' : '';
  const shown = JSON.stringify(setting.default);
  return shown === '{}' && setting.keys === 'settings' ? '' : code(shown);
};

const row = (setting: Setting): string =>
  `| ${[code(setting.path), setting.type, fallback(setting), setting.meaning].map(cell).join(' | ')} |`;

/** The reference of all settings as Markdown: docs/inventory.md. */
export function inventoryReference(): string {
  const sections = [...inventorySettings().inside].map(
    ([name, setting]) => `## ${name}\n\n${HEAD}${withInner(setting).map(row).join('\n')}\n`,
  );
  return [INTRODUCTION, ...sections].join('\n');
}

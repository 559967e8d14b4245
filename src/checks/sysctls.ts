import { basename } from 'node:path/posix';
import { paths } from '../paths.ts';
import { REQUIRED_SYSCTLS, sysctlsOf } from '../topology/sysctls.ts';
import { eachHost, type HostFinding } from './each-host.ts';

const OURS = basename(paths.sysctl);

export const sysctls = eachHost(
  {
    name: 'sysctls',
    title: 'forwarding, bridge filtering and the `sysctls` of the inventory are set and stay set',
    why: `Services need forwarding and bridge filtering. \`up\` writes a file for them and for \`sysctls\` of the inventory; a file that is read later and sets one of them to another value must be mended by hand, because it wins at the next boot. A setting of the inventory that the kernel does not have is a warning: correct its name, or load the module that brings it (\`net.netfilter.*\` comes with \`nf_conntrack\`). The next \`up\` sets it then.`,
    severities: ['due', 'error', 'warning'],
  },
  ({ facts, host }) => {
    const wanted = new Map(sysctlsOf(host));
    const winning = facts.sysctlSettings.filter(
      ({ file, name, value }) => basename(file) > OURS && wanted.has(name) && value !== wanted.get(name),
    );
    const off = [...wanted].filter(([name, value]) => facts.sysctls[name] !== value);
    const without = off.filter(
      ([name]) =>
        !(name in REQUIRED_SYSCTLS) &&
        ['absent', 'unreadable'].includes(facts.sysctls[name]!) &&
        // `up` loads this module before it sets anything.
        !(name.startsWith('net.bridge.') && facts.modules.br_netfilter === 'loadable' && host.role !== 'load-balancer'),
    );
    const due = off.filter((one) => !without.includes(one));
    return [
      ...winning.map(({ file, name, value }): HostFinding => ({
        severity: name in REQUIRED_SYSCTLS ? 'error' : 'warning',
        message: `${file} sets ${name}=${value} at boot, after kbuild's own file`,
        remedy: `take the line out of ${file}`,
      })),
      ...without.map(([name]): HostFinding => ({
        severity: 'warning',
        message:
          facts.sysctls[name] === 'absent'
            ? `the kernel has no setting ${name}, which the inventory sets`
            : `${name}, which the inventory sets, has no value that can be read`,
        remedy:
          facts.sysctls[name] === 'absent'
            ? `correct its name in sysctls, or load the module that brings it and run \`kbuild up\` again`
            : `take it out of sysctls`,
      })),
      ...(due.length === 0
        ? []
        : [
            { severity: 'due' as const, message: due.map(([name]) => `${name} is ${facts.sysctls[name]!}`).join(', ') },
          ]),
    ];
  },
);

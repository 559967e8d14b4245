import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => ({
  profiles: ['Domain', 'Private', 'Public'],
  rules: (Names as readonly string[]).flatMap((name) => {
    const rule = machine.firewall.get(name.toLowerCase());
    if (rule === undefined) return [];
    const { protocol, ports } = rule;
    return [
      {
        name: rule.name,
        enabled: true,
        direction: 'Inbound',
        action: 'Allow',
        profile: rule['profile'] ?? 'Any',
        protocol,
        port: ports.join(','),
      },
    ];
  }),
});

import { uniqueValue } from './unique-value.ts';

export const productUuid = uniqueValue(
  {
    name: 'product-uuid',
    title: 'the DMI product UUID is unique',
    why: `Kubernetes' install guide asks for it. Most hypervisors give a clone a UUID of its own. A machine without DMI has none, which is fine.`,
    severities: ['error'],
  },
  ({ productUuid: uuid }) => (uuid === 'absent' ? [] : [uuid]),
  {
    message: (value, others) => `has the product UUID ${value} in common with ${others}`,
    remedy: 'give each virtual machine a UUID of its own (most hypervisors do when they clone)',
  },
);

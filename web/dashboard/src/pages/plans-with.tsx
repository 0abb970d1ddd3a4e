import { api } from '../api';
import { plansWith, type Feature } from '../plans';
import { useResource } from '../resource';

// Names the plans that have a feature, as the operator offers them now.
export function PlansWith({ feature }: { feature: Feature }) {
  const plans = useResource('plans', (signal) => api.plans(signal));
  return <>{(plans.value && plansWith(plans.value.plans, feature)) || 'another plan'}</>;
}

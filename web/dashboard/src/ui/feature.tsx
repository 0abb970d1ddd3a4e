import type { ComponentChildren } from 'preact';
import { paths } from '../routes';
import { Icon, type IconName } from './icon';

// On what outlived its plan.
export function PastPlan() {
  return <span class="badge warn">inactive on this plan</span>;
}

// Stands in for a feature that the plan lacks: what it is for and which plans have it.
export function FeatureNotice({
  icon,
  title,
  plans,
  children,
}: {
  icon: IconName;
  title: string;
  plans: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="panel feature">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <div class="stack tight">
        <h2>{title}</h2>
        {children}
        <p>
          Comes with <strong>{plans}</strong>. <a href={paths.account}>Your plan and its limits</a>
        </p>
      </div>
    </section>
  );
}

# Observes the enabled profiles of the firewall, and rules by name. Skips missing rules. Names: the rules.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$profiles = @()
foreach ($one in @(Get-NetFirewallProfile)) {
    if ("$(Get-Property -Of $one -Name 'Enabled')" -eq 'True') { $profiles += [string](Get-Property -Of $one -Name 'Name') }
}
$rules = @()
foreach ($name in $Names) {
    foreach ($rule in @(Find-Existing -Look { Get-NetFirewallRule -Name $name -ErrorAction 'Stop' })) {
        $ports = Get-NetFirewallPortFilter -AssociatedNetFirewallRule $rule
        $rules += @{
            name = [string](Get-Property -Of $rule -Name 'Name')
            enabled = "$(Get-Property -Of $rule -Name 'Enabled')" -eq 'True'
            direction = [string](Get-Property -Of $rule -Name 'Direction')
            action = [string](Get-Property -Of $rule -Name 'Action')
            profile = [string](Get-Property -Of $rule -Name 'Profile')
            protocol = [string](Get-Property -Of $ports -Name 'Protocol')
            port = @(Get-Property -Of $ports -Name 'LocalPort') -join ','
        }
    }
}
Write-Result -Value @{ profiles = @($profiles); rules = @($rules) }

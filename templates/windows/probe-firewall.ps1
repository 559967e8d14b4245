# Observes the enabled profiles of the firewall, and rules by name. Skips missing rules. Names: the rules.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$profiles = @()
foreach ($one in @(Get-NetFirewallProfile)) {
    if ([string]$one.Enabled -eq 'True') { $profiles += [string]$one.Name }
}
$rules = @()
foreach ($name in $Names) {
    foreach ($rule in @(Find-Existing -Look { Get-NetFirewallRule -Name $name -ErrorAction 'Stop' })) {
        $ports = Get-NetFirewallPortFilter -AssociatedNetFirewallRule $rule
        $rules += @{
            name = [string]$rule.Name
            enabled = [string]$rule.Enabled -eq 'True'
            direction = [string]$rule.Direction
            action = [string]$rule.Action
            profile = [string]$rule.Profile
            protocol = [string]$ports.Protocol
            port = [string]$ports.LocalPort
        }
    }
}
Write-Result -Value @{ profiles = @($profiles); rules = @($rules) }

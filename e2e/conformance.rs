//! Upstream's shared test of its allocators (`structured/internal/allocatortesting` of
//! k8s.io/dynamic-resource-allocation v0.37.2): every case, under its own name, with the answer that
//! upstream's code gives, in its order and with its error texts.
//!
//! The cases stand in `conformance/*.cases`; `conformance/text.rs` describes their form.
#![allow(missing_docs, clippy::panic, reason = "a test")]

#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/given.rs"]
mod given;
#[path = "conformance/run.rs"]
mod run;
#[path = "conformance/text.rs"]
mod text;
#[path = "conformance/world.rs"]
mod world;

/// Declares a test for each case of a file, and one that none of its cases is without a test.
macro_rules! cases {
    ($topic:ident: $($case:ident)*) => {
        #[allow(non_snake_case, reason = "upstream's names")]
        mod $topic {
            const TEXT: &str = include_str!(concat!("conformance/", stringify!($topic), ".cases"));

            $(#[test]
            fn $case() {
                super::run::run(TEXT, stringify!($case));
            })*

            #[test]
            fn every_case_has_a_test() {
                super::run::assert_complete(TEXT, &[$(stringify!($case)),*]);
            }
        }
    };
}

cases! { basics:
    empty simple other_node small_and_large small_and_large_backtrack_requests
    small_and_large_backtrack_claims devices_split_across_different_slices obsolete_slice duplicate_slice
    no_slices not_enough_suitable_devices no_classes unknown_class empty_class no_claims_to_allocate
    several_different_drivers already_allocated_devices
}
cases! { limits:
    too_many_devices_single_request many_devices_okay too_many_devices_total all_devices_invalid_CEL
    prioritized_list_too_many_in_first_subrequest max_number_devices
    prioritized_list_max_allocation_limit_request prioritized_list_max_allocation_allocation_mode_all
    exact_count_total_overflows_claim_limit exact_count_total_would_wrap_to_zero
    exact_count_sum_exceeds_claim_limit exact_count_sum_exactly_fills_claim_limit
    prioritized_list_minimum_sum_exceeds_claim_limit prioritized_list_overflowing_first_subrequest_is_pruned
}
cases! { all_mode:
    all_devices_single all_devices_with_consumed_counters all_devices_many
    all_devices_of_the_incomplete_pool all_devices_plus_another all_devices_plus_another_reversed
    all_devices_many_plus_another all_devices_many_plus_another_reversed all_devices_no_solution
    all_devices_no_solution_reversed all_devices_slice_without_devices all_devices_no_slices
    all_devices_some_allocated all_devices_slice_without_devices_prioritized_list
    all_devices_no_slices_prioritized_list all_devices_some_allocated_prioritized_list
    invalid_CEL_all_devices allocation_mode_all_with_multi_host_resource_pool
}
cases! { admin:
    all_devices_some_allocated_admin_access all_devices_some_allocating_admin_access
    count_devices_some_allocated_admin_access separate_claims_share_device_admin_access
    admin_access_claims_device_allocating_for_non_admin_access admin_access_disabled admin_access_enabled
    tainted_admin_access tainted_admin_access_disabled
}
cases! { nodes:
    network_attached_device unsuccessful_allocation_network_attached_device many_network_attached_devices
    local_and_network_attached_devices node_restriction optional_node_operations
    optional_node_operations_missing_feature
}
cases! { pools:
    multi_host_resource_pool_with_stale_slice_for_current_node
    multi_host_resource_pool_complete_update_from_node_1_to_node_2
    multi_host_resource_pool_complete_update_from_node_2_to_node_1
    multi_host_resource_pool_incomplete_update_from_node_1_to_node_2
    multi_host_resource_pool_incomplete_update_from_node_2_to_node_1
    different_resourceslices_in_pool_can_target_different_nodes
    invalid_pool_is_ok_if_devices_can_be_allocated_from_other
    invalid_pool_is_error_if_no_other_device_can_be_allocated no_allocation_from_incomplete_pools
}
cases! { constraints:
    with_constraint with_constraint_non_existent_attribute with_constraint_not_matching_int_attribute
    with_constraint_not_matching_int_attribute_all_devices with_constraint_not_matching_string_attribute
    with_constraint_not_matching_bool_attribute with_constraint_not_matching_version_attribute
    with_constraint_for_request with_constraint_for_request_retry
}
cases! { config:
    with_class_device_config with_class_device_config_with_multiple_request_and_configs
    with_claim_config_for_two_requests claim_with_device_config prioritized_list_device_config
    prioritized_list_class_config claim_config_scoped_to_subrequests_of_one_request
    claim_config_covering_all_requests_is_cleared
}
cases! { invalid:
    unknown_selector unknown_allocation_mode unknown_constraint invalid_CEL_one_device
    invalid_CEL_one_device_class
}
cases! { prioritized:
    prioritized_list_first_unavailable prioritized_list_non_available
    prioritized_list_subrequests_with_expressions
    prioritized_list_subrequests_with_constraints_ref_parent_request
    prioritized_list_subrequests_with_constraints_ref_sub_request
    prioritized_list_subrequests_with_allocation_mode_all
    prioritized_list_allocation_mode_all_multiple_requests prioritized_list_disabled
    prioritized_list_multi_request prioritized_list_with_backtracking prioritized_list_allocation_mode_all
    prioritized_list_allocation_mode_all_with_selectors
    prioritized_list_allocation_mode_all_with_selectors_multiple_pools
    prioritized_list_allocation_mode_all_with_selectors_multiple_pools_across_nodes
    prioritized_list_allocation_mode_all_with_selectors_deviceclass_subset
}
cases! { partitionable:
    partitionable_devices_single_device partitionable_devices_prioritized_list
    partitionable_devices_multiple_devices partitionable_devices_multiple_capacity_pools
    partitionable_devices_multiple_counters partitionable_devices_multiple_pools
    partitionable_devices_unused_counters_in_counter_set partitionable_devices_no_capacity_available
    partitionable_devices_overallocated_capacity_pool
    partitionable_devices_disabled_device_consumes_counters
    partitionable_devices_disabled_other_device_do_not_consume_counters
    partitionable_devices_with_attribute_selector
    partitionable_all_mode_constraint_must_error_with_reserved_counter
    partitionable_devices_counter_quantities_are_not_modified partitionable_devices_taint_releases_counter
    partitionable_devices_constraint_releases_counter
}
cases! { partitionable_pools:
    partitionable_devices_disabled_per_device_node_selection
    partitionable_devices_per_device_node_selection_nodename
    partitionable_devices_per_device_node_selection_node_selector
    partitionable_devices_per_device_node_selection_node_selector_multiple_devices
    partitionable_devices_same_counter_set_name_in_different_resource_slices
    partitionable_devices_device_counter_consumption_references_unknown_counter_set
    partitionable_devices_device_counter_consumption_references_unknown_counter_in_counter_set
    partitionable_devices_device_counter_consumption_references_counter_set_in_other_pool
    partitionable_devices_devices_on_different_nodes_consume_same_counter_set
    partitionable_devices_devices_consume_counter_set_in_different_nodes
    partitionable_devices_validation_error_on_non_targeting_slice
    partitionable_devices_counter_cache_scoped_by_pool_ID
    partitionable_devices_counter_cache_not_crossed_between_driver_schemas
}
cases! { taints:
    tainted_two_devices tainted_one_device_two_taints tainted_two_devices_tolerated
    tainted_two_devices_prioritized_list_tolerated tainted_no_effect
    tainted_one_device_two_taints_both_tolerated tainted_disabled tainted_prioritized_list
    tainted_prioritized_list_disabled tainted_all_devices_single tainted_all_devices_single_disabled
}
cases! { binding:
    device_binding_conditions binding_conditions_multiple_devices binding_conditions_with_and_without
    binding_conditions_without_feature_gate partitionable_devices_with_binding_conditions
    partitionable_devices_with_binding_conditions_multiple
    partitionable_devices_with_binding_conditions_some_devices_no_conditions
    partitionable_devices_with_binding_conditions_multi_slices
    partitionable_devices_with_binding_conditions_and_taints
    partitionable_devices_with_binding_conditions_and_taints_tolerated
}
cases! { capacity:
    consumable_capacity_disabled_feature consumable_capacity_disabled_feature_with_prioritized_list
    consumable_capacity_multi_allocatable_device_with_missing_capacity_request
    consumable_capacity_multi_allocatable_device_without_capacity_without_capacity_request
    consumable_capacity_multi_allocatable_device_without_policy_without_capacity_request
    consumable_capacity_multi_allocatable_device_without_policy_without_capacity_request_block
    consumable_capacity_multi_allocatable_device_without_policy_with_capacity_request
    consumable_capacity_multi_allocatable_device_with_policy_without_capacity_request
    consumable_capacity_multi_allocatable_device_with_zero_request_policy
    consumable_capacity_multi_allocatable_device_violates_zero_request_policy
    consumable_capacity_multi_allocatable_device_with_range_policy_with_capacity_request
    consumable_capacity_multi_allocatable_device_with_range_policy_step
    consumable_capacity_multi_allocatable_device_with_valid_values_policy
    consumable_capacity_multi_allocatable_device_with_valid_values_policy_round_up
    consumable_capacity_multi_allocatable_device_with_exceeded_consumable_capacity_request
    consumable_capacity_multi_allocatable_device_with_request_over_max_sharing_policy
    consumable_capacity_multi_allocatable_device_with_allocated_capacity_use_remaining
    consumable_capacity_multi_allocatable_device_with_allocated_capacity_next_device
    consumable_capacity_with_multi_allocatable_device_backtrack
    consumable_capacity_multi_allocatable_device_with_subrequest
    consumable_capacity_multi_allocatable_device_with_no_available_consumable_capacity
}
cases! { capacity_all:
    consumable_capacity_multi_allocatable_device_allocation_mode_all_with_missing_capacity_request
    consumable_capacity_multi_allocatable_device_allocation_mode_all_filter_out_no_capacity
    consumable_capacity_multi_allocatable_device_allocation_mode_all_filter_out_insufficient_capacity
    consumable_capacity_multi_allocatable_device_allocation_mode_all_allocating_sufficient
    consumable_capacity_multi_allocatable_device_allocation_mode_all_in_use_sufficient
    consumable_capacity_multi_allocatable_device_allocation_mode_all_allocating_insufficient
    consumable_capacity_multi_allocatable_device_allocation_mode_all_in_use_insufficient
}
cases! { capacity_amounts:
    consumable_capacity_dedicated_device_with_consumable_capacity_request
    consumable_capacity_dedicated_device_with_multiple_consumable_capacity_request
    consumable_capacity_rejection_rolls_back_constraints
    consumable_capacity_range_policy_request_above_int64_rejected
    consumable_capacity_range_policy_rounded_value_overflow_rejected
    consumable_capacity_range_policy_overflow_aborts_not_skip
    consumable_capacity_range_policy_allocation_mode_all_overflow_aborts
    consumable_capacity_negative_request_aborts consumable_capacity_requests_are_not_modified
    consumable_capacity_fractional_range_gate_disabled
    consumable_capacity_fractional_range_gate_enabled_round_up
}
cases! { capacity_counters:
    allow_multiple_allocations_exclude_multi_allocatable_device_by_class_selector
    allow_multiple_allocations_not_allocate_multi_allocatable_device_which_already_dedicated
    allow_multiple_allocations_not_allocate_dedicated_device_which_change_from_multi_allocatable
    allow_multiple_allocations_with_partitionable_device
    allow_multiple_allocations_with_shared_device_counter_cross_cycle
    consumable_capacity_with_partitionable_device_multiple_capacity_pools
    partitionable_consumable_capacity_backtrack_releases_counter
    partitionable_empty_capacity_multiple_share_backtrack_keeps_counter_ownership
    partitionable_consumable_capacity_shared_device_counter_not_recharged
}
cases! { distinct:
    with_distinct_constraints with_distinct_constraints_attribute_not_set
    with_distinct_constraints_unknown_type_attribute with_distinct_constraints_with_subrequests
    distinct_constraint_one_multi_allocatable_device_with_distinct_constraint
    distinct_constraint_two_multi_allocatable_devices_with_distinct_constraint
    distinct_constraint_single_request_count_3_not_distinct
    distinct_constraint_single_request_count_3_all_distinct
    distinct_constraint_two_requests_with_count_not_distinct
    distinct_constraint_single_request_multiple_devices_attribute_not_set
    distinct_constraint_single_request_not_enough_distinct_values
    distinct_constraint_single_request_multiple_devices_attribute_set
}
cases! { lists:
    list_attributes_match_constaint_scalar_string_values
    list_attributes_match_constaint_list_of_string_values_with_common_elements
    list_attributes_match_constaint_list_of_string_values_with_partially_common_elements
    list_attributes_match_constaint_list_of_string_values_without_common_elements
    list_attributes_match_constaint_mixed_scalar_and_list_of_string_values_with_common_elements
    list_attributes_match_constaint_mixed_scalar_and_list_of_string_values_with_partially_common_elements
    list_attributes_match_constaint_mixed_scalar_and_list_of_string_values_without_common_elements
    list_attributes_match_constaint_list_of_int_values_with_common_elements
    list_attributes_match_constaint_list_of_bool_values_with_common_elements
    list_attributes_match_constaint_list_of_version_values_with_common_elements
    list_attributes_match_constaint_with_empty_or_unknown_type
    list_attributes_disabled_match_constraint_with_lists
    list_attributes_distinct_constraint_scalar_string_values_all_distinct
    list_attributes_distinct_constraint_scalar_string_values_not_distinct
    list_attributes_distinct_constraint_list_of_string_values_all_distinct
    list_attributes_distinct_constraint_list_of_string_values_with_common_elements
    list_attributes_distinct_constraint_mixed_scalar_and_list_all_distinct
    list_attributes_distinct_constraint_mixed_scalar_and_list_with_common_elements
    list_attributes_distinct_constraint_list_of_int_values_all_distinct
    list_attributes_distinct_constraint_list_of_bool_values_all_distinct
    list_attributes_distinct_constraint_list_of_version_values_all_distinct
    list_attributes_distinct_constaint_with_empty_or_unknown_type
    list_attributes_disabled_distinct_constraint_with_lists
    list_attributes_match_constraint_backtrack_needs_intersection_restore
    numanode_matchattribute_overlapping_lists_are_co_placed
    numanode_matchattribute_disjoint_lists_are_not_allocated
    list_attributes_distinct_constraint_single_request_count_3_not_distinct
    list_attributes_distinct_constraint_single_request_count_3_all_distinct
    list_attributes_distinct_constraint_backtrack_needs_remove
}
cases! { effort:
    check_combinations_within_single_request_single_pool_single_slice
    check_combinations_within_single_request_single_pool_multiple_slices
    check_combinations_within_single_request_multiple_pools_multiple_slices
    check_combinations_within_single_request_many_pools check_combinations_with_backtracking
    check_combinations_with_backtracking_across_slices_and_pools check_combinations_with_prioritized_list
}
cases! { order:
    lexicographical_sorting_pools lexicographical_sorting_pools_with_binding_conditions
    lexicographical_sorting_slices lexicographical_sorting_slices_with_binding_conditions
}
cases! { groups:
    compatibility_groups_compatible compatibility_groups_incompatible compatibility_groups_taint_rollback
    compatibility_groups_incompatible_with_allocated_peer
    compatibility_groups_compatible_with_allocated_peer compatibility_groups_disabled_skips_grouped_pool
    compatibility_groups_disabled_skips_ungrouped_device_in_grouped_pool
    compatibility_groups_multiple_counter_sets compatibility_groups_multiple_counter_sets_spanning_device
    compatibility_groups_with_prioritized_list compatibility_groups_with_consumable_capacity
    compatibility_groups_multiple_claims compatibility_groups_multiple_claims_incompatible
}
cases! { derived:
    derived_attributes derived_attributes_with_prioritized_list derived_attributes_override
    derived_attributes_cel_missing_attribute derived_attributes_type_mismatch
}
cases! { interrupt:
    off timeout deadline
}

cases! { ours:
    a_counter_overdrawn_does_not_concern_other_pools
}

// Answers that are no upstream cases: each breaks one rule of the judge.
cases! { refused_requests:
    more_devices_than_a_claim_holds a_result_for_no_request results_not_in_the_order_of_requests
    fewer_devices_than_asked_for more_devices_than_asked_for an_unknown_mode an_unknown_selector
    no_such_class no_alternative_chosen two_alternatives_chosen an_alternative_answered_in_part
    alternatives_with_the_gate_off admin_access_with_the_gate_off a_capacity_request_with_the_gate_off
    a_derived_attribute_with_the_gate_off one_of_all_devices_missing none_of_all_devices_given
    all_devices_beside_a_pool_in_flux
}
cases! { refused_devices:
    a_device_of_another_node a_device_that_no_slice_lists a_device_that_says_itself_that_it_is_elsewhere
    a_pool_with_a_newer_generation a_pool_with_a_slice_missing a_pool_with_a_slice_too_many
    two_devices_of_one_name two_counter_sets_of_one_name an_unknown_counter_set an_unknown_counter
    a_device_that_the_class_refuses a_device_that_the_request_refuses a_selector_that_fails
    a_taint_not_tolerated binding_conditions_with_the_gate_off counters_with_the_gate_off
    a_node_that_cannot_skip_calls
}
cases! { refused_together:
    a_device_in_use a_device_twice_in_one_claim a_device_twice_in_two_claims
    a_device_twice_in_one_claim_for_an_administrator one_share_after_another_within_one_request
    shares_beyond_the_capacity a_share_beyond_what_others_leave a_share_of_a_device_held_alone
    a_capacity_that_the_device_lacks more_than_a_dedicated_device_has an_amount_above_the_range
    a_negative_amount an_amount_that_no_integer_holds two_shares_of_one_identity
    a_share_of_an_identity_in_use a_counter_taken_twice a_counter_that_others_have_taken
    a_counter_exceeded_in_another_set groups_that_do_not_meet a_group_beside_a_device_without
}
cases! { refused_results:
    admin_access_not_asked_for admin_access_asked_for_and_not_recorded tolerations_not_copied
    binding_conditions_not_copied binding_failure_conditions_not_copied a_share_of_a_dedicated_device
    a_device_with_shares_given_whole an_amount_other_than_consumed an_amount_not_recorded
    an_amount_of_a_dedicated_device calls_skipped_that_the_driver_needs
}
cases! { refused_claims:
    values_that_do_not_match values_of_two_types_that_do_not_match a_value_missing_that_must_match
    values_that_are_not_distinct lists_that_do_not_match lists_that_are_not_distinct lists_with_the_gate_off
    an_unknown_constraint a_configuration_left_out a_configuration_in_another_order a_configuration_changed
    a_configuration_for_all_requests_that_names_them no_node_selector_for_a_local_device
    the_node_selector_of_another_node a_node_selector_too_wide a_node_selector_for_a_device_in_reach_of_all
}
